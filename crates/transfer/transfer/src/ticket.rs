//! The one line that lets somebody reach a service: where it is, which certificate it has, and a secret.
//!
//! # Form
//! `afteryou1` and base32 in lower case without padding (RFC 4648 §6). Letters and digits only, so neither a shell, a URL nor a
//! double click splits it, and `TICKET/path` ends at the first `/`. Decoded:
//!
//! | bytes | what |
//! |---|---|
//! | 2 | length of all that follows, so that a line that was cut off is known from one with a typing error |
//! | 1 | role of the side that listens: 0 receive, 1 serve |
//! | 32 | SHA-256 of its certificate |
//! | 16 | secret |
//! | 1 | number of addresses, at most [`MAX_ADDRESSES`] |
//! | … | each: 4 and 4 bytes, 6 and 16 bytes, or 0, a length and a name; then the port |
//! | 4 | BLAKE3 of all the above, cut |
//!
//! A link-local address is there without an interface: a scope id has a meaning on one machine alone. Versions that do not
//! support such addresses read them as any other, fail to reach them, and try the rest.
//!
//! Upper case is understood, since some mailers and phones change it. So are blanks and line breaks in the line. A form that today's version could not read gets another digit.
//!
//! The secret has 128 bits. Nobody can try secrets offline: only the listening side, after it has proven to be the
//! one with the pinned certificate, ever sees something derived from it (`tls.rs`).

use crate::interfaces;
use data_encoding::BASE32_NOPAD;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use thiserror::Error;

const VERSION: &str = "1";
const LENGTH_BYTES: usize = 2;
const CHECKSUM_BYTES: usize = 4;

/// Addresses in one ticket. More would only make the line long: they are tried a quarter of a second apart.
pub const MAX_ADDRESSES: usize = 16;

/// Longest DNS name, RFC 1035 §2.3.4.
const MAX_NAME_BYTES: usize = 253;

/// Far beyond the longest ticket: what is longer was not meant to be one.
const MAX_LINE_BYTES: usize = 16 * 1024;

/// The listening side's role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// It stores what is sent to it.
    Receive,
    /// It has files to get.
    Serve,
}

impl Role {
    /// Returns the role's byte in tickets and in what secrets are derived from.
    pub(crate) fn byte(self) -> u8 {
        match self {
            Role::Receive => 0,
            Role::Serve => 1,
        }
    }

    fn from_byte(byte: u8) -> Option<Role> {
        [Role::Receive, Role::Serve].into_iter().find(|role| role.byte() == byte)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Receive => "receive",
            Role::Serve => "serve",
        })
    }
}

/// SHA-256 of a certificate's DER. Prints as `openssl x509 -fingerprint -sha256` does.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// Returns the fingerprint of this certificate.
    pub fn of(certificate: &[u8]) -> Fingerprint {
        let digest = ring::digest::digest(&ring::digest::SHA256, certificate);
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest.as_ref());
        Fingerprint(bytes)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            let colon = if index == 0 { "" } else { ":" };
            write!(f, "{colon}{byte:02X}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The secret that only the owner of a ticket has. Prints as dots.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; Secret::BYTES]);

impl Secret {
    /// Length.
    pub const BYTES: usize = 16;

    /// Creates a secret of these bytes.
    pub fn new(bytes: [u8; Secret::BYTES]) -> Secret {
        Secret(bytes)
    }

    /// Returns the bytes themselves.
    pub fn expose(&self) -> &[u8; Secret::BYTES] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// A host, by number or by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// By number.
    Ip(IpAddr),
    /// By name, looked up when it is dialled.
    Name(String),
}

/// Where a service may be reached.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// The host.
    pub host: Host,
    /// UDP port.
    pub port: u16,
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Address {
        Address { host: Host::Ip(address.ip()), port: address.port() }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Ip(ip) => SocketAddr::new(*ip, self.port).fmt(f),
            Host::Name(name) => write!(f, "{name}:{}", self.port),
        }
    }
}

impl Address {
    /// Reads `HOST`, `HOST:PORT`, `[V6]:PORT` or a bare v6 address. A link-local one may have `%` and an interface of this machine,
    /// which is left out.
    ///
    /// # Errors
    /// A text that is no address, port 0, and an interface that this machine does not have.
    pub fn parse(text: &str, default_port: u16) -> Result<Address, TicketError> {
        let wrong = || TicketError::Address(text.escape_debug().to_string());
        if let Some((bare, zone)) = interfaces::split_zone(text) {
            // The peer tries each of its own interfaces, so the name has no meaning there.
            interfaces::number(zone).ok_or_else(|| TicketError::Interface(interfaces::unknown(zone)))?;
            return Address::parse(&bare, default_port);
        }
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(address.into());
        }
        if let Ok(ip) = text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
            return Ok(Address { host: Host::Ip(ip), port: default_port });
        }
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) => (name, port.parse().map_err(|_| wrong())?),
            None => (text, default_port),
        };
        if !is_name(name) || port == 0 {
            return Err(wrong());
        }
        Ok(Address { host: Host::Name(name.to_owned()), port })
    }
}

fn is_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    (1..=MAX_NAME_BYTES).contains(&text.len()) && !text.starts_with(['-', '.']) && text.chars().all(allowed)
}

/// Errors of a line that should be a ticket.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TicketError {
    /// It does not begin like one.
    #[error(
        "this is no ticket: a ticket is the line beginning with \"afteryou1\" that receive or serve prints"
    )]
    NotATicket,
    /// Another version's.
    #[error("this ticket was made by a newer afteryou: update this one")]
    Newer,
    /// The end is missing.
    #[error("the ticket is cut off ({have} of {need} characters): copy the whole line")]
    CutOff {
        /// Characters there are.
        have: usize,
        /// Characters there should be.
        need: usize,
    },
    /// Something follows.
    #[error("{0} characters too many at the end of the ticket: copy the line alone")]
    TooLong(usize),
    /// The checksum, or a letter that cannot be.
    #[error("the ticket has a typing error: copy it again rather than typing it")]
    Typo,
    /// Not an address to put into one.
    #[error("\"{0}\" is no address: give HOST or HOST:PORT")]
    Address(String),
    /// An address with an interface that this machine does not have.
    #[error("{0}")]
    Interface(String),
    /// Nowhere to go.
    #[error("a ticket needs 1 to {MAX_ADDRESSES} addresses, not {0}: name those that can be reached with --address")]
    Addresses(usize),
}

/// Where a service is, which certificate it has, and the secret it asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The listening side's role.
    pub role: Role,
    /// Of its certificate.
    pub fingerprint: Fingerprint,
    /// To be admitted.
    pub secret: Secret,
    /// In the order in which they are tried.
    pub addresses: Vec<Address>,
}

/// For people: not the ticket itself.
impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a ticket to {} at ", self.role)?;
        for (index, address) in self.addresses.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{address}")?;
        }
        Ok(())
    }
}

impl Ticket {
    /// Every ticket begins with this, whatever its version.
    pub(crate) const PREFIX: &'static str = "afteryou";

    /// Returns the line to hand over. It holds the secret: anyone who reads it may use the service.
    ///
    /// # Errors
    /// No addresses or more than [`MAX_ADDRESSES`], and a name that is no host's.
    pub fn to_line(&self) -> Result<String, TicketError> {
        if self.addresses.is_empty() || self.addresses.len() > MAX_ADDRESSES {
            return Err(TicketError::Addresses(self.addresses.len()));
        }
        let mut body = vec![self.role.byte()];
        body.extend_from_slice(&self.fingerprint.0);
        body.extend_from_slice(&self.secret.0);
        body.push(self.addresses.len() as u8);
        for address in &self.addresses {
            match &address.host {
                Host::Ip(IpAddr::V4(ip)) => body.extend([&[4][..], &ip.octets()].concat()),
                Host::Ip(IpAddr::V6(ip)) => body.extend([&[6][..], &ip.octets()].concat()),
                Host::Name(name) if is_name(name) => {
                    body.extend([&[0, name.len() as u8][..], name.as_bytes()].concat())
                }
                Host::Name(name) => return Err(TicketError::Address(name.escape_debug().to_string())),
            }
            body.extend(address.port.to_be_bytes());
        }
        let mut bytes = ((body.len() + CHECKSUM_BYTES) as u16).to_be_bytes().to_vec();
        bytes.extend(body);
        bytes.extend(checksum(&bytes));
        Ok(format!("{}{VERSION}{}", Ticket::PREFIX, BASE32_NOPAD.encode(&bytes).to_ascii_lowercase()))
    }

    /// Reads `TICKET` or `TICKET/path`: the path as written, without the first `/`.
    ///
    /// # Errors
    /// A ticket that is cut off, too long, mistyped or of a newer version, and what is no ticket.
    pub fn with_path(text: &str) -> Result<(Ticket, Option<&str>), TicketError> {
        match text.split_once('/') {
            Some((ticket, path)) => Ok((ticket.parse()?, Some(path))),
            None => Ok((text.parse()?, None)),
        }
    }
}

impl FromStr for Ticket {
    type Err = TicketError;

    fn from_str(line: &str) -> Result<Ticket, TicketError> {
        let line: String = line.chars().filter(|&character| !is_of_the_way(character)).collect();
        if line.len() > MAX_LINE_BYTES || !line.is_ascii() {
            return Err(TicketError::NotATicket);
        }
        let line = line.to_ascii_lowercase();
        let rest = line.strip_prefix(Ticket::PREFIX).ok_or(TicketError::NotATicket)?;
        let Some(encoded) = rest.strip_prefix(VERSION) else {
            return match rest.chars().next() {
                Some('2'..='9') => Err(TicketError::Newer),
                _ => Err(TicketError::NotATicket),
            };
        };
        decode(&unwrap_base32(encoded, line.len())?).ok_or(TicketError::Typo)
    }
}

/// Returns `true` for what a mailer, an editor or a terminal puts between the characters of a line. These are breaks,
/// blanks, a byte order mark, and characters without a width.
fn is_of_the_way(character: char) -> bool {
    character.is_whitespace()
        || matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\0')
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut sum = [0; CHECKSUM_BYTES];
    blake3::Hasher::new().update(bytes).finalize_xof().fill(&mut sum);
    sum
}

/// Returns the bytes between the length and the checksum, both checked.
fn unwrap_base32(encoded: &str, line_length: usize) -> Result<Vec<u8>, TicketError> {
    let prefix = line_length - encoded.len();
    let have = encoded.len();
    let encoded = encoded.to_ascii_uppercase();
    if !encoded.bytes().all(|byte| BASE32_NOPAD.specification().symbols.as_bytes().contains(&byte)) {
        return Err(TicketError::Typo);
    }
    // Eight characters are five whole bytes.
    let start = encoded.get(..8).ok_or(TicketError::CutOff { have: line_length, need: prefix + 8 })?;
    let start = BASE32_NOPAD.decode(start.as_bytes()).map_err(|_| TicketError::Typo)?;
    let length = LENGTH_BYTES + usize::from(u16::from_be_bytes([start[0], start[1]]));
    let need = BASE32_NOPAD.encode_len(length);
    if have < need {
        return Err(TicketError::CutOff { have: line_length, need: prefix + need });
    }
    if have > need {
        return Err(TicketError::TooLong(have - need));
    }
    let bytes = BASE32_NOPAD.decode(encoded.as_bytes()).map_err(|_| TicketError::Typo)?;
    let (body, sum) = bytes.split_last_chunk::<CHECKSUM_BYTES>().ok_or(TicketError::Typo)?;
    if *sum != checksum(body) {
        return Err(TicketError::Typo);
    }
    body.get(LENGTH_BYTES..).map(<[u8]>::to_vec).ok_or(TicketError::Typo)
}

fn decode(mut body: &[u8]) -> Option<Ticket> {
    fn take<'a>(from: &mut &'a [u8], bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = from.split_at_checked(bytes)?;
        *from = rest;
        Some(taken)
    }
    fn array<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
        take(from, N)?.try_into().ok()
    }
    let body = &mut body;
    let [role] = array(body)?;
    let role = Role::from_byte(role)?;
    let fingerprint = Fingerprint(array(body)?);
    let secret = Secret(array(body)?);
    let [count] = array(body)?;
    if count == 0 || usize::from(count) > MAX_ADDRESSES {
        return None;
    }
    let mut addresses = Vec::new();
    for _ in 0..count {
        let host = match array(body)? {
            [4] => Host::Ip(Ipv4Addr::from(array::<4>(body)?).into()),
            [6] => Host::Ip(Ipv6Addr::from(array::<16>(body)?).into()),
            [0] => {
                let [length] = array(body)?;
                let name = std::str::from_utf8(take(body, length.into())?).ok()?;
                Host::Name(Some(name).filter(|name| is_name(name))?.to_owned())
            }
            _ => return None,
        };
        addresses.push(Address { host, port: u16::from_be_bytes(array(body)?) });
    }
    body.is_empty().then_some(Ticket { role, fingerprint, secret, addresses })
}

#[cfg(test)]
mod tests;
