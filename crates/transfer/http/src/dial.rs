//! The first connection to one of several addresses.
//!
//! They are tried one after the other, each a quarter of a second after the one before (RFC 8305), and the first connection wins.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Time between two attempts (RFC 8305, section 8).
const STAGGER: Duration = Duration::from_millis(250);

/// Returns the first connection to one of `addresses`.
///
/// # Errors
/// That of the last attempt to fail, or that there is no address.
pub async fn first(addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    let mut left = alternating(addresses).into_iter();
    let mut attempts = JoinSet::new();
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    loop {
        if let Some(address) = left.next() {
            attempts.spawn(TcpStream::connect(address));
        }
        tokio::select! {
            ended = attempts.join_next() => match ended {
                None => return Err(last),
                Some(Ok(Ok(stream))) => return Ok(stream),
                Some(Ok(Err(error))) => last = error,
                Some(Err(error)) => last = io::Error::other(error),
            },
            () = tokio::time::sleep(STAGGER), if left.len() > 0 => {}
        }
    }
}

/// Returns addresses of both families in turn, so that a family without a route costs one attempt.
fn alternating(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let first_is_v6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (one, other): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| address.is_ipv6() == first_is_v6);
    let mut other = other.into_iter();
    let mut mixed: Vec<_> =
        one.into_iter().flat_map(|address| [Some(address), other.next()]).flatten().collect();
    mixed.extend(other);
    mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_of_addresses_alternate() {
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        let mixed = alternating(["[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1"].map(address).to_vec());
        assert_eq!(mixed, ["[::1]:1", "1.1.1.1:1", "[::2]:1", "[::3]:1"].map(address));
    }
}
