//! qlog files, for qvis and other readers.

use quinn::{QlogConfig, TransportConfig};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

/// Writes what happens to the connections of `transport` to a new qlog file. Give each connection a configuration of its
/// own to get a file for each: `Endpoint::connect_with`, `Incoming::accept_with`.
///
/// ```no_run
/// let mut transport = afteryou_quic::background_transport();
/// afteryou_quic::qlog::write_to(&mut transport, "backup.sqlog".as_ref(), "nightly backup")?;
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// The system's error about the file.
pub fn write_to(transport: &mut TransportConfig, path: &Path, title: &str) -> io::Result<()> {
    let mut config = QlogConfig::default();
    config.writer(Box::new(BufWriter::new(File::create_new(path)?))).title(Some(title.to_owned()));
    transport.qlog_stream(config.into_stream());
    Ok(())
}
