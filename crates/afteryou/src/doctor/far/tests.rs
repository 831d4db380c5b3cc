use super::*;
use crate::doctor::Severity;
use afteryou_transfer::ticket::Fingerprint;

fn reached(answer: Result<Answer, String>) -> Path {
    Path { connected_in: Duration::from_millis(42), round_trip: Duration::from_millis(20), mtu: 1452, answer }
}

fn probed(tos: Option<u8>) -> Result<Answer, String> {
    Ok(Answer::Probed { tos, address: "198.51.100.7:4711".into(), ce: 1, packets: 20 })
}

fn seen(path: Result<Path, dial::Failure>, tcp: Option<Tcp>) -> Seen {
    Seen { address: Address::parse("192.0.2.1:4711", 0).unwrap(), path, tcp }
}

fn state_of(checks: &[Check], name: &str) -> Severity {
    checks
        .iter()
        .find(|check| check.name.starts_with(name))
        .unwrap_or_else(|| panic!("no {name} in {checks:?}"))
        .state
}

#[test]
fn a_good_path_is_all_well() {
    let checks = judge(&[seen(Ok(reached(probed(Some(0x06)))), None)]);
    assert!(checks.iter().all(|check| check.state == Severity::Ok), "{checks:?}");
    let text = super::super::report::text(&checks, 100);
    for word in ["42 ms", "20.0 ms", "1452 bytes", "lower effort", "1 of 20", "198.51.100.7"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn marks_that_are_lost_on_the_way_are_told_apart() {
    let with = |tos| judge(&[seen(Ok(reached(probed(tos))), None)]);
    let states = |tos| (state_of(&with(tos), "DSCP"), state_of(&with(tos), "ECN"));
    assert_eq!(states(Some(0x02)), (Severity::Warn, Severity::Ok));
    assert_eq!(states(Some(0x04)), (Severity::Ok, Severity::Warn));
    assert_eq!(state_of(&with(None), "DSCP"), Severity::Warn);
}

#[test]
fn what_tcp_does_decides_what_is_said_of_udp() {
    let said = |tcp| judge(&[seen(Err(dial::Failure::Silent), Some(tcp))]).remove(0);
    let words = [
        (Tcp::Connects, "UDP is blocked"),
        (Tcp::Refuses, "the host is there"),
        (Tcp::Silent, "the host is off"),
    ];
    for (tcp, words) in words {
        let check = said(tcp);
        assert!(
            check.state == Severity::Fail
                && check.seen.contains(words)
                && check.todo.unwrap().contains("4711"),
            "{tcp:?}"
        );
    }
}

#[test]
fn an_address_that_fails_beside_one_that_works_is_a_warning() {
    let stranger = || dial::Failure::Stranger(Fingerprint([0; 32]));
    let alone = judge(&[seen(Err(stranger()), None)]);
    assert_eq!((alone.len(), alone[0].state), (1, Severity::Fail));
    let beside = judge(&[seen(Err(stranger()), None), seen(Ok(reached(probed(Some(6)))), None)]);
    assert_eq!((beside[0].state, beside[1].state), (Severity::Warn, Severity::Ok));
}

#[test]
fn a_far_end_cannot_move_the_cursor() {
    let rude = Ok(Answer::Refused { reason: "\u{1b}[2Jgone".into() });
    let text = super::super::report::text(&judge(&[seen(Ok(reached(rude)), None)]), 80);
    assert!(text.contains("gone") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn a_small_mtu_is_told_and_harmless() {
    let path = Path { mtu: 1200, ..reached(probed(Some(6))) };
    assert_eq!(state_of(&judge(&[seen(Ok(path), None)]), "path MTU"), Severity::Warn);
}
