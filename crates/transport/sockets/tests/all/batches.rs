//! Many datagrams in one call, in both directions.

use super::{End, Families, Options, Outgoing};
use afteryou_sockets::MOST_SEGMENTS;

fn seeing() -> Options {
    Options { tos: true, ..Options::default() }
}

#[test]
fn a_buffer_leaves_as_datagrams_that_each_carry_the_byte() {
    let (from, to) = (End::v4(Options::default()), End::v4(seeing()));
    assert_eq!(from.control.send_segments(), MOST_SEGMENTS);
    let outgoing = Outgoing { tos: 6, segment: Some(1000), ..Outgoing::new(to.address(), &[7; 2500]) };
    from.send(&outgoing);
    for bytes in [1000, 1000, 500] {
        let incoming = to.receive();
        assert_eq!((incoming.bytes, incoming.stride, incoming.tos), (bytes, bytes, Some(6)));
    }
    assert_eq!(from.control.send_segments(), MOST_SEGMENTS);
}

#[test]
fn datagrams_that_left_together_arrive_together_where_that_was_asked_for() {
    let to = End::v4(Options { batches: true, ..seeing() });
    assert_eq!(to.control.receive_segments(), MOST_SEGMENTS);
    let from = End::v4(Options::default());
    let outgoing =
        Outgoing { tos: 5, segment: Some(1200), ..Outgoing::new(to.address(), &[7; 4 * 1200 + 100]) };
    from.send(&outgoing);
    let incoming = to.receive();
    assert_eq!((incoming.bytes, incoming.stride, incoming.tos), (4 * 1200 + 100, 1200, Some(5)));
}

#[test]
fn a_buffer_that_the_kernel_does_not_cut_turns_offload_off_and_still_arrives() {
    let (from, to) = (End::v4(Options::default()), End::v4(seeing()));
    // More segments than any kernel takes at once.
    from.send(&Outgoing { tos: 6, segment: Some(1), ..Outgoing::new(to.address(), &[7; 150]) });
    assert_eq!(from.control.send_segments(), 1);
    assert!((0..150).all(|_| (to.receive().bytes, from.control.sends_tos()) == (1, true)));
    from.send(&Outgoing { tos: 6, segment: Some(1000), ..Outgoing::new(to.address(), &[7; 2500]) });
    assert_eq!([0; 3].map(|_| to.receive().tos), [Some(6); 3]);
}

#[test]
fn a_batch_keeps_its_byte_beside_every_other_control_message() {
    let all = Options { destination: true, arrival: true, drops: true, batches: true, ..seeing() };
    for host in ["127.0.0.1:0", "[::1]:0"] {
        let [from, to] = [Options::default(), all].map(|options| End::open(host, Families::Own, options));
        // Lower effort with each of the four ECN code points.
        for tos in 4..8 {
            from.send(&Outgoing { tos, segment: Some(1200), ..Outgoing::new(to.address(), &[7; 12_000]) });
            let incoming = to.receive();
            assert_eq!((incoming.bytes, incoming.stride, incoming.tos), (12_000, 1200, Some(tos)), "{host}");
            assert_eq!(incoming.to, Some(to.address().ip()));
            assert!(incoming.arrived.is_some());
        }
    }
}
