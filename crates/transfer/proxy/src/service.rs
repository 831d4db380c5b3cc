//! A client's connection, whatever it speaks, on any stream.

use crate::credentials::Credentials;
use crate::dial::Dial;
use crate::rules::Client;
use crate::shared::{Limits, Shared};
use crate::stream::{Counted, Moved, Stream};
use crate::{http, socks};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;

/// The first byte of SOCKS5.
const SOCKS5: u8 = 5;
/// The first byte of SOCKS4, which has no passwords and, as a rule, no names.
const SOCKS4: u8 = 4;
/// Looks at whether a connection moves, within its longest silence.
const LOOKS: u32 = 16;

/// Serves clients on streams of any kind.
#[derive(Clone)]
pub struct Service(Arc<Shared>);

impl Service {
    /// Creates a service that reaches hosts by `dialer`. With `credentials` all clients have to give them.
    pub fn new(credentials: Option<Credentials>, limits: Limits, dialer: Arc<dyn Dial>) -> Service {
        // A state of hashes has random keys.
        let number = RandomState::new().build_hasher().finish();
        let pseudonym = format!("afteryou-{number:016x}");
        Service(Arc::new(Shared { credentials, limits, dialer, pseudonym }))
    }

    /// Serves a client until its connection ends.
    pub async fn serve(&self, client: Client, stream: impl Stream + 'static) {
        let moved = Moved::default();
        let stream = Counted::new(stream, moved.clone());
        tokio::select! {
            () = self.speak(client, stream) => {}
            () = silence(&moved, self.0.limits.idle) => tracing::debug!("a silent connection is closed"),
        }
    }

    async fn speak<S: Stream + 'static>(&self, client: Client, mut stream: Counted<S>) {
        let first = tokio::time::timeout(self.0.limits.head, stream.read_u8()).await;
        let Ok(Ok(first)) = first else { return };
        stream.unread(first);
        match first {
            SOCKS5 => socks::serve(self.0.clone(), client, stream).await,
            SOCKS4 => tracing::debug!("a client speaks SOCKS4: use SOCKS5"),
            _ => http::serve(self.0.clone(), client, stream).await,
        }
    }
}

/// Waits until nothing has moved for `longest`.
async fn silence(moved: &Moved, longest: Duration) {
    let (mut last, mut looks) = (0, 0);
    while looks < LOOKS {
        tokio::time::sleep(longest / LOOKS).await;
        let now = moved.load(Ordering::Relaxed);
        looks = if now == last { looks + 1 } else { 0 };
        last = now;
    }
}
