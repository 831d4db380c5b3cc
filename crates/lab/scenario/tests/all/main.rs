//! Results: those of earlier formats are read.

mod results;
