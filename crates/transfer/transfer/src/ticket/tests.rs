use super::*;
use proptest::prelude::*;

fn example() -> Ticket {
    Ticket {
        role: Role::Receive,
        fingerprint: Fingerprint(std::array::from_fn(|index| index as u8)),
        secret: Secret::new([0x5a; 16]),
        addresses: vec![
            Address { host: Host::Ip("2001:db8::7".parse().unwrap()), port: 4711 },
            Address { host: Host::Ip("192.0.2.1".parse().unwrap()), port: 4711 },
            Address { host: Host::Name("backup.example.org".into()), port: 443 },
        ],
    }
}

#[test]
fn a_ticket_survives_its_line() {
    let line = example().to_line().unwrap();
    assert_eq!(line.parse(), Ok(example()));
    assert_eq!(format!(" {line}\n").parse(), Ok(example()));
    assert_eq!(line.to_ascii_uppercase().parse(), Ok(example()));
    assert!(
        line.starts_with("afteryou1")
            && line.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()),
        "{line}"
    );
}

#[test]
fn addresses_of_one_link_are_carried_as_any_other() {
    let addresses = ["[2001:db8::7]:4711", "[fe80::7]:4711", "169.254.3.4:4711"];
    let addresses = addresses.map(|address| Address::parse(address, 0).unwrap()).to_vec();
    let ticket = Ticket { addresses, ..example() };
    assert_eq!(ticket.to_line().unwrap().parse(), Ok(ticket));
}

#[test]
fn the_form_stays_as_it_is() {
    // Tickets are in other people's scripts for years.
    let line = "afteryou1aa6qaaabaibqibiga4eascqlbqgq4dyqcejbgfavcylrqgi2dmob2hq7ljnfuws2ljnfuws2ljnfuws2liaqjqaaaiarez3nvuvg2";
    let ticket = Ticket { addresses: vec![Address::parse("192.0.2.1:4711", 0).unwrap()], ..example() };
    assert_eq!(line.parse(), Ok(ticket.clone()));
    assert_eq!(ticket.to_line(), Ok(line.to_owned()));
}

#[test]
fn a_path_may_follow() {
    let line = example().to_line().unwrap();
    let text = format!("{line}/photos/2026/a b");
    assert_eq!(Ticket::with_path(&text), Ok((example(), Some("photos/2026/a b"))));
    assert_eq!(Ticket::with_path(&line), Ok((example(), None)));
    assert_eq!(Ticket::with_path(&format!("{line}/")), Ok((example(), Some(""))));
}

#[test]
fn each_mistake_has_its_sentence() {
    let line = example().to_line().unwrap();
    assert_eq!("hello".parse::<Ticket>(), Err(TicketError::NotATicket));
    assert_eq!("".parse::<Ticket>(), Err(TicketError::NotATicket));
    assert_eq!("afteryou".parse::<Ticket>(), Err(TicketError::NotATicket));
    assert_eq!("afteryou2aaaa".parse::<Ticket>(), Err(TicketError::Newer));
    assert_eq!(format!("{line}abc").parse::<Ticket>(), Err(TicketError::TooLong(3)));
    let cut = "afteryou1".len()..line.len();
    for end in cut {
        let error = line[..end].parse::<Ticket>().unwrap_err();
        assert!(matches!(error, TicketError::CutOff { have, .. } if have == end), "{end}: {error:?}");
    }
}

#[test]
fn every_wrong_character_is_noticed() {
    let line = example().to_line().unwrap();
    for index in "afteryou1".len()..line.len() {
        for other in ["a", "q", "7", "0", "-"] {
            if line[index..].starts_with(other) {
                continue;
            }
            let typed = format!("{}{other}{}", &line[..index], &line[index + 1..]);
            assert!(typed.parse::<Ticket>().is_err(), "{index}: {other}");
        }
    }
    let mut swapped = line.clone().into_bytes();
    let index = (20..).find(|index| swapped[*index] != swapped[index + 1]).unwrap();
    swapped.swap(index, index + 1);
    assert_eq!(String::from_utf8(swapped).unwrap().parse::<Ticket>(), Err(TicketError::Typo));
}

#[test]
fn what_is_printed_of_a_ticket_does_not_hold_the_secret() {
    let ticket = example();
    let line = ticket.to_line().unwrap();
    for shown in
        [format!("{ticket:?}"), format!("{ticket}"), format!("{ticket:#?}"), format!("{:?}", ticket.secret)]
    {
        assert!(
            !shown.contains("90") && !shown.to_lowercase().contains("5a5a") && !shown.contains(&line),
            "{shown}"
        );
    }
}

#[test]
fn a_ticket_without_addresses_or_with_too_many_is_refused() {
    let with =
        |count| Ticket { addresses: vec![Address::parse("192.0.2.1", 1).unwrap(); count], ..example() };
    assert_eq!(with(0).to_line(), Err(TicketError::Addresses(0)));
    assert!(with(MAX_ADDRESSES).to_line().unwrap().parse::<Ticket>().is_ok());
    assert_eq!(with(MAX_ADDRESSES + 1).to_line(), Err(TicketError::Addresses(MAX_ADDRESSES + 1)));
}

#[test]
fn addresses_are_read_in_every_usual_form() {
    let shown = |text: &str| Address::parse(text, 99).map(|address| address.to_string());
    assert_eq!(shown("192.0.2.1"), Ok("192.0.2.1:99".into()));
    assert_eq!(shown("192.0.2.1:5"), Ok("192.0.2.1:5".into()));
    assert_eq!(shown("2001:db8::1"), Ok("[2001:db8::1]:99".into()));
    assert_eq!(shown("[2001:db8::1]"), Ok("[2001:db8::1]:99".into()));
    assert_eq!(shown("[2001:db8::1]:5"), Ok("[2001:db8::1]:5".into()));
    assert_eq!(shown("example.org"), Ok("example.org:99".into()));
    assert_eq!(shown("example.org:5"), Ok("example.org:5".into()));
    #[cfg(target_os = "linux")]
    assert_eq!(shown("[fe80::1%lo]:5"), Ok("[fe80::1]:5".into()), "a scope id says nothing at the peer");
    assert_eq!(shown("fe80::1"), Ok("[fe80::1]:99".into()));
    let unknown = shown("[fe80::1%no-such-0]:5").unwrap_err();
    assert!(unknown.to_string().starts_with("this machine has no interface \"no-such-0\""), "{unknown}");
    for wrong in [
        "",
        ":5",
        "a b",
        "-oProxyCommand=x",
        "example.org:",
        "example.org:0",
        "example.org:70000",
        "a/b",
        "[2001:db8::1%eth0]:5",
        "\u{1b}[0m",
    ] {
        assert!(matches!(shown(wrong), Err(TicketError::Address(_))), "{wrong:?}");
    }
}

#[test]
fn the_fingerprint_reads_as_openssl_prints_it() {
    // SHA-256 of "abc", FIPS 180-2 appendix B.1.
    let printed = Fingerprint::of(b"abc").to_string();
    assert!(printed.starts_with("BA:78:16:BF:8F:01:CF:EA") && printed.ends_with(":15:AD"), "{printed}");
}

proptest! {
    #[test]
    fn any_text_is_answered(text in ".{0,300}", tail in "[a-z2-7]{0,300}") {
        let _ = text.parse::<Ticket>();
        let _ = Ticket::with_path(&text);
        let _ = format!("afteryou1{tail}").parse::<Ticket>();
        let _ = Address::parse(&text, 1);
    }

    #[test]
    fn any_bytes_behind_a_right_checksum_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let Some(ticket) = decode(&bytes) {
            prop_assert!(ticket.to_line().is_ok());
        }
    }
}
