//! The way to the peer of a ticket: who answers, how fast, and what happens to packets meanwhile.

use super::Check;
use afteryou_base::Dscp;
use afteryou_quic::{background_transport, Socket};
use afteryou_terminal::Failure;
use afteryou_transfer::dial::{self, Dialer};
use afteryou_transfer::probe::{self, Path};
use afteryou_transfer::ticket::{Address, Host, Ticket};
use afteryou_transfer::wire::Answer;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// For a TCP connection, which only shows whether anybody is there.
const TCP: Duration = Duration::from_millis(1500);

/// Payload above which nothing is to be gained on the internet: 1500 bytes less the headers of IPv6 and UDP.
const LARGE_PAYLOAD: u16 = 1400;

const ECN_BITS: u8 = 0b11;

/// The outcome for one address.
struct Seen {
    address: Address,
    path: Result<Path, dial::Failure>,
    /// Only asked when UDP got no answer.
    tcp: Option<Tcp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tcp {
    Connects,
    Refuses,
    Silent,
}

/// Checks all addresses at once, then the path to the first that answered.
pub fn checks(ticket: &Ticket) -> Result<Vec<Check>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let seen = runtime.block_on(look(ticket))?;
    Ok(judge(&seen))
}

async fn look(ticket: &Ticket) -> Result<Vec<Seen>, Failure> {
    let socket = Socket::from_std(dial::udp_socket(0)?, Dscp::LE)?;
    let endpoint = afteryou_quic::endpoint(socket, quinn::EndpointConfig::default(), None)?;
    let dialer = Dialer::new(endpoint.clone(), ticket, |_| Arc::new(background_transport()))?;
    let mut looks = JoinSet::new();
    for (index, address) in ticket.addresses.iter().cloned().enumerate() {
        let dialer = dialer.clone();
        looks.spawn(async move { (index, look_at(&dialer, address).await) });
    }
    let mut seen = looks.join_all().await;
    seen.sort_by_key(|(index, _)| *index);
    // The last packets must still be sent.
    let _ = timeout(Duration::from_millis(200), endpoint.wait_idle()).await;
    Ok(seen.into_iter().map(|(_, seen)| seen).collect())
}

async fn look_at(dialer: &Dialer, address: Address) -> Seen {
    let path = probe::look(dialer, &address).await;
    let tcp = match &path {
        Err(dial::Failure::Silent) => Some(tcp(&address).await),
        _ => None,
    };
    Seen { address, path, tcp }
}

async fn tcp(address: &Address) -> Tcp {
    let host = match &address.host {
        Host::Ip(ip) => ip.to_string(),
        Host::Name(name) => name.clone(),
    };
    match timeout(TCP, TcpStream::connect((host, address.port))).await {
        Ok(Ok(_)) => Tcp::Connects,
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused => Tcp::Refuses,
        _ => Tcp::Silent,
    }
}

fn judge(seen: &[Seen]) -> Vec<Check> {
    let reached = seen.iter().find_map(|seen| seen.path.as_ref().ok());
    let mut checks: Vec<Check> = seen.iter().map(|seen| address(seen, reached.is_some())).collect();
    if let Some(path) = reached {
        checks.push(Check::ok("round trip", format!("{:.1} ms", path.round_trip.as_secs_f64() * 1e3)));
        checks.push(mtu(path));
        checks.extend(arrival(path));
    }
    checks
}

/// Judges an address. One that fails is a failure only if there is no other.
fn address(seen: &Seen, another_works: bool) -> Check {
    let name = format!("peer {}", seen.address);
    let failure = match &seen.path {
        Ok(path) => {
            return Check::ok(
                name,
                format!(
                    "answers, and takes the ticket, within {:.0} ms",
                    path.connected_in.as_secs_f64() * 1e3
                ),
            )
        }
        Err(failure) => failure,
    };
    let port = seen.address.port;
    let open = format!(
        "let UDP port {port} through the firewalls on the way, and have the peer's router forward it"
    );
    let (seen, todo) = match (failure, seen.tcp) {
        (dial::Failure::Silent, Some(Tcp::Connects)) => {
            ("no answer over UDP, while TCP to the same port connects: UDP is blocked on the way, or something else listens there".to_owned(), open)
        }
        (dial::Failure::Silent, Some(Tcp::Refuses)) => {
            let seen = "no answer over UDP; the host is there (it refuses TCP to this port): its firewall drops UDP, or nothing listens".to_owned();
            (seen, format!("see that the peer is running; then {open}"))
        }
        (dial::Failure::Silent, _) => {
            let seen = "no answer over UDP or TCP: the host is off, not reachable from this network, or a firewall drops everything".to_owned();
            (seen, format!("see that the peer is running and its address right (--address names another); then {open}"))
        }
        (failure @ dial::Failure::Refused, _) => (failure.to_string(), "ask for the ticket that the peer prints now".to_owned()),
        (failure @ dial::Failure::Stranger(_), _) => {
            let todo = "a private address may be another machine here; otherwise ask for the ticket that the peer prints now";
            (failure.to_string(), todo.to_owned())
        }
        (failure, _) => (failure.to_string(), "see that the peer is running and its address right".to_owned()),
    };
    match another_works {
        true => Check::warn(name, seen, todo),
        false => Check::fail(name, seen, todo),
    }
}

fn mtu(path: &Path) -> Check {
    const NAME: &str = "path MTU";
    let seen = format!("datagrams of {} bytes pass", path.mtu);
    match path.mtu >= LARGE_PAYLOAD {
        true => Check::ok(NAME, seen),
        false => {
            let todo = "nothing must be done: a tunnel or a slow line on the way has smaller packets (or the search was not over yet)";
            Check::warn(NAME, seen, todo)
        }
    }
}

/// Judges how our packets look at the peer.
fn arrival(path: &Path) -> Vec<Check> {
    const DSCP: &str = "DSCP at the peer";
    const ECN: &str = "ECN at the peer";
    let (tos, from, ce, packets) = match &path.answer {
        Ok(Answer::Probed { tos, address, ce, packets }) => (*tos, address, *ce, *packets),
        Ok(Answer::Refused { reason }) => {
            return vec![Check::warn(
                DSCP,
                format!("the peer does not report it: {}", printable(reason)),
                "bring it to this version",
            )]
        }
        Ok(Answer::Welcome { .. }) => {
            return vec![Check::warn(DSCP, "the peer misunderstood the question", "bring it to this version")]
        }
        Err(reason) => {
            return vec![Check::warn(
                DSCP,
                format!("the peer does not report it: {reason}"),
                "bring it to this version",
            )]
        }
    };
    let origin = Check::ok("seen from the peer", format!("our packets come from {}", printable(from)));
    let Some(tos) = tos else {
        let todo = "nothing: its platform does not report it";
        return vec![origin, Check::warn(DSCP, "the peer cannot see it", todo)];
    };
    let le = Dscp::LE.bits();
    let dscp = match Dscp::of_tos(tos) {
        Dscp::LE => Check::ok(DSCP, format!("arrives as lower effort ({le})")),
        other => {
            let todo = "a router on the way rewrites it, so those behind it cannot see that this traffic may wait; if the router is yours, let it keep DSCP";
            Check::warn(DSCP, format!("sent as lower effort ({le}), arrives as {}", other.bits()), todo)
        }
    };
    let ecn = match tos & ECN_BITS {
        0 => {
            let todo = "a router on the way clears the bits: queues there can only drop; if the router is yours, let it keep ECN";
            Check::warn(ECN, "packets arrive as not capable", todo)
        }
        _ => Check::ok(
            ECN,
            format!("packets arrive as capable; {ce} of {packets} marked as having met congestion"),
        ),
    };
    vec![origin, dscp, ecn]
}

/// Returns a peer's text in a form that does not move the cursor.
fn printable(text: &str) -> String {
    afteryou_terminal::output::printable(&text.chars().take(200).collect::<String>())
}

#[cfg(test)]
mod tests;
