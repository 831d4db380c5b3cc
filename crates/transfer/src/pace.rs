//! How fast a job may go: shared by everybody who limits it (the command line, a timetable, `ctl`, the far end) and
//! everybody who sends for it.
//!
//! Several limits hold at once, each with an owner; the smallest rate counts, and one pause is enough.
