//! The example's two loops, on sockets.

#[path = "../../examples/event_loop/peer.rs"]
mod peer;
#[path = "../../examples/event_loop/poll.rs"]
mod poll;
#[path = "../../examples/event_loop/threads.rs"]
mod threads;

use peer::Peer;
use std::io;
use std::net::{SocketAddr, UdpSocket};

type Run = fn(UdpSocket, Peer) -> io::Result<Peer>;

#[test]
fn threads_and_mio_carry_every_byte_in_any_combination() {
    let loops: [(&str, Run); 2] = [("threads", threads::run), ("mio", poll::run)];
    for (sends, sending) in loops {
        for (receives, receiving) in loops {
            let here = SocketAddr::from(([127, 0, 0, 1], 0));
            let [near, far] = [(); 2].map(|()| UdpSocket::bind(here).unwrap());
            let sender = Peer::sender(far.local_addr().unwrap(), 3_000_001).unwrap();
            let receiver = std::thread::spawn(move || receiving(far, Peer::receiver()).unwrap().received());
            sending(near, sender).unwrap();
            assert_eq!(receiver.join().unwrap(), 3_000_001, "{sends} to {receives}");
        }
    }
}
