//! Figures without a run.

mod figures;
