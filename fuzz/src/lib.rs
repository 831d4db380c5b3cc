//! What the fuzz targets do with their input. Each body is a plain function in a file of its own, which a stable test
//! of the main workspace includes to replay the corpus.

/// The bodies.
pub mod bodies {
    pub mod connection;
    pub mod packet;
    pub mod quantities;
    pub mod scenario_file;
    pub mod transfer_control;
    pub mod transfer_words;
}
