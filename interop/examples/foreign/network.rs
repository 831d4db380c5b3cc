//! Two sockets between the initiator and the acceptor that lose datagrams or hold them up, in both directions.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::task::JoinSet;

/// How long a late datagram is held up: dozens overtake it.
const LATENESS: Duration = Duration::from_millis(5);

#[derive(Clone, Copy)]
pub struct Manner {
    pub lost_per_mille: u32,
    pub late_per_mille: u32,
}

/// A network that exists until it is dropped.
pub struct Network {
    /// Where the initiator connects to.
    pub address: SocketAddr,
    _ways: JoinSet<()>,
}

impl Network {
    pub async fn start(acceptor: SocketAddr, manner: Manner) -> std::io::Result<Network> {
        let near = Arc::new(UdpSocket::bind("127.0.0.1:0").await?);
        let far = Arc::new(UdpSocket::bind("127.0.0.1:0").await?);
        let (address, initiator) = (near.local_addr()?, Arc::new(Mutex::new(None)));
        let mut ways = JoinSet::new();
        let (from, to, noted) = (Arc::clone(&near), Arc::clone(&far), Arc::clone(&initiator));
        ways.spawn(carry(from, to, 1, manner, move |sender| {
            *noted.lock().ok()? = Some(sender);
            Some(acceptor)
        }));
        ways.spawn(carry(far, near, 2, manner, move |_| *initiator.lock().ok()?));
        Ok(Network { address, _ways: ways })
    }
}

async fn carry(
    from: Arc<UdpSocket>,
    to: Arc<UdpSocket>,
    seed: u128,
    manner: Manner,
    mut address: impl FnMut(SocketAddr) -> Option<SocketAddr>,
) {
    let (mut random, mut buffer) = (Pcg64Mcg::new(seed), [0; 2048]);
    loop {
        let Ok((len, sender)) = from.recv_from(&mut buffer).await else { continue };
        let Some(address) = address(sender) else { continue };
        let fate = random.next_u32() % 1000;
        if fate < manner.lost_per_mille {
            continue;
        }
        if fate >= manner.lost_per_mille + manner.late_per_mille {
            _ = to.send_to(&buffer[..len], address).await;
            continue;
        }
        let (to, datagram) = (Arc::clone(&to), buffer[..len].to_vec());
        tokio::spawn(async move {
            tokio::time::sleep(LATENESS).await;
            _ = to.send_to(&datagram, address).await;
        });
    }
}
