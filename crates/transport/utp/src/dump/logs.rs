//! The folder of the connections' logs.

use super::openings::{Opened, Openings};
use super::Opening;
use afteryou_base::Time;
use afteryou_trace::qlog::{About, Connection, ConnectionEnds, Output, Sender, Vantage};
use afteryou_trace::spool::{File, Spool};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// End of the names of qlog files that are JSON text sequences.
const EXTENSION: &str = "sqlog";
/// The transport, as files name it.
const PROTOCOL: &str = "UTP";

/// A folder with a file for each connection.
#[derive(Debug)]
pub(super) struct Logs {
    folder: Folder,
    /// Memory of the openings by peers that have not answered yet.
    openings: Arc<Openings>,
}

/// Where files come to be, in the order of their connections.
#[derive(Clone, Debug)]
struct Folder {
    path: PathBuf,
    spool: Spool,
    connections: Arc<AtomicU64>,
}

impl Folder {
    fn file(&self, peer: SocketAddr) -> File {
        let number = 1 + self.connections.fetch_add(1, Ordering::Relaxed);
        self.spool.path(self.path.join(name(number, peer)))
    }
}

impl Output for LogFile {
    fn write(&mut self, record: &[u8]) {
        self.0.write(record);
    }
}

/// The log of a connection that this end opens: its peer was chosen.
#[derive(Debug)]
struct LogFile(File);

impl Logs {
    pub(super) fn begin(folder: PathBuf, spool: Spool) -> io::Result<Logs> {
        std::fs::create_dir_all(&folder)?;
        for entry in std::fs::read_dir(&folder)? {
            if entry?.path().extension().is_some_and(|extension| extension == EXTENSION) {
                let reason = format!("{} has logs already: choose another folder", folder.display());
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, reason));
            }
        }
        let folder = Folder { path: folder, spool, connections: Arc::default() };
        Ok(Logs { folder, openings: Arc::default() })
    }

    /// Begins the log of a connection. `reference` is the wall clock at `now`, since 1970.
    pub(super) fn log(
        &self,
        now: Time,
        reference: Duration,
        local: SocketAddr,
        opening: &Opening,
    ) -> Connection {
        let Opening { peer, ids, opens } = *opening;
        let file: Box<dyn Output> = match opens {
            true => Box::new(LogFile(self.folder.file(peer))),
            false => {
                let folder = self.folder.clone();
                Box::new(Opened::new(&self.openings, move || folder.file(peer)))
            }
        };
        let (flow, vantage) = (peer.to_string(), if opens { Vantage::Client } else { Vantage::Server });
        let about = About { title: "afteryou-utp", flow: &flow, protocol: PROTOCOL, vantage };
        let reference_ms = reference.as_secs_f64() * 1e3;
        let log = Connection::new(Sender::new(file, &about, now, reference_ms));
        log.started(now, PROTOCOL, &ConnectionEnds { local, peer, ids });
        log
    }
}

/// Names a connection's file by its number and its peer.
fn name(number: u64, peer: SocketAddr) -> String {
    let address = peer.ip().to_canonical().to_string().replace(':', "_");
    format!("{number}-{address}-{}.{EXTENSION}", peer.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_have_no_colons() {
        let names = ["192.0.2.1:6881", "[2001:db8::1]:6881", "[::ffff:192.0.2.1]:9"]
            .map(|peer| name(7, peer.parse().unwrap()));
        assert_eq!(names, ["7-192.0.2.1-6881.sqlog", "7-2001_db8__1-6881.sqlog", "7-192.0.2.1-9.sqlog"]);
    }
}
