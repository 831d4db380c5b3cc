//! qlog files read back with the crate `qlog`, which is not ours, for the tests of what writes them.
//!
//! It is here, because `qlog` compiles its reader wherever it is called: a third of the time that uTP's tests took to compile.

use qlog::reader::{Event, QlogSeqReader};
use qlog::QlogSeq;
use std::error::Error;
use std::io::BufReader;
use std::path::Path;

/// A sender's file.
pub struct Log {
    /// The first record.
    pub header: QlogSeq,
    /// All others. The crate `qlog` leaves out those that it cannot read.
    pub events: Vec<Event>,
}

/// Reads a file in the format JSON-SEQ.
///
/// # Errors
/// The file cannot be opened, or its first record is no header.
pub fn read(path: &Path) -> Result<Log, Box<dyn Error>> {
    let file = std::fs::File::open(path)?;
    let mut reader = QlogSeqReader::new(Box::new(BufReader::new(file)))?;
    let events = reader.by_ref().collect();
    Ok(Log { header: reader.qlog, events })
}
