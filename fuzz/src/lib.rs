//! The bodies of the fuzz targets. Each body is a plain function in a file of its own, so that the tests of a crate
//! can include it. `tests/corpus.rs` runs all of them on the corpus, with a stable toolchain.

/// The bodies.
pub mod bodies {
    pub mod connection;
    pub mod ebb;
    pub mod packet;
    pub mod proxy;
    pub mod quantities;
    pub mod scenario_file;
    pub mod transfer_control;
    pub mod transfer_words;
}
