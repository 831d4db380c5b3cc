//! afteryou
