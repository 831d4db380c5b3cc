//! How fast a job may go: shared by everybody who limits it and everybody who sends for it.
