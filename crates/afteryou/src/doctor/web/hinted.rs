//! Systems other than Linux: whether the system itself makes a download a background transfer.

use crate::doctor::Check;
use afteryou_background::{set_background, Background, Error};
use afteryou_base::lock::EvenPoisoned;
use afteryou_http::Look;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::net::TcpStream;

/// Takes sockets from the client.
#[derive(Default)]
pub struct Sockets {
    hinted: Mutex<Option<Result<Background, Error>>>,
}

impl Sockets {
    /// Takes the socket of a new connection.
    pub fn take(&self, stream: &TcpStream) {
        *self.hinted.lock().even_poisoned() = Some(set_background(stream));
    }
}

/// A download whose sockets are seen.
pub struct Watch {
    sockets: Arc<Sockets>,
}

impl Watch {
    /// Begins.
    pub fn begin(_end: Instant) -> Watch {
        Watch { sockets: Arc::default() }
    }

    /// Returns what takes the client's sockets.
    pub fn sockets(&self) -> Arc<Sockets> {
        Arc::clone(&self.sockets)
    }

    /// Judges the last connection.
    pub async fn finish(self, _look: Look) -> Vec<Check> {
        const NAME: &str = "background downloads";
        let todo = "limit the rate: afteryou get --max-rate";
        vec![match &*self.sockets.hinted.lock().even_poisoned() {
            Some(Ok(background)) if background.rule.is_ok() => Check::ok(NAME, background.to_string()),
            Some(Ok(background)) => Check::warn(NAME, background.to_string(), todo),
            Some(Err(error)) => Check::warn(NAME, error.to_string(), todo),
            None => Check::warn(NAME, "no connection was made", todo),
        }]
    }
}
