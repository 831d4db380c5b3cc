//! Any bytes as a datagram.

use afteryou_utp::packet::{looks_like_utp, Packet, HEADER_LEN};

/// Decodes `data`; a packet must be one for [`looks_like_utp`], too, and survive being written and read again.
pub fn run(data: &[u8]) {
    let looks = looks_like_utp(data);
    let Ok(packet) = Packet::decode(data) else {
        return;
    };
    assert!(looks || data[1] > 2, "a packet with known extensions looks like one");
    assert!(packet.payload.len() + HEADER_LEN <= data.len());
    let mut written = Vec::new();
    packet.encode(&mut written);
    assert!(written.len() <= data.len(), "unknown extensions are left out, nothing is added");
    assert_eq!(Packet::decode(&written), Ok(packet));
    if let Some(sack) = packet.sack {
        let (covers, is_long) = (sack.covers(), sack.is_long());
        assert!(sack.received().zip(sack.received().skip(1)).all(|(one, next)| one < next));
        assert!(is_long || sack.received().all(|offset| offset >= 1 && offset < covers));
    }
}
