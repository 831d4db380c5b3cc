//! Clients that speak SOCKS5 (RFC 1928, 1929).
//!
//! `fast-socks5` reads and writes the messages. Its own connecting and resolving are not used: it would resolve a name to one address and
//! connect to it unchecked. Only CONNECT is answered; BIND and UDP would open ports here.

use crate::error::Error;
use crate::rules::Client;
use crate::shared::{Shared, WRONG_PASSWORD};
use crate::stream::Stream;
use crate::target::Target;
use crate::tunnel;
use fast_socks5::server::states::{Authenticated, CommandRead};
use fast_socks5::server::{PasswordAuthentication, Socks5ServerProtocol, SocksServerError};
use fast_socks5::util::target_addr::TargetAddr;
use fast_socks5::{ReplyError, Socks5Command};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// Serves a client until its tunnel ends.
pub(crate) async fn serve(shared: Arc<Shared>, client: Client, stream: impl Stream) {
    let asked = tokio::time::timeout(shared.limits.head, read(&shared, stream)).await;
    let (protocol, target) = match asked {
        Ok(Ok(asked)) => asked,
        Ok(Err(error)) => return tracing::debug!("a client of SOCKS5 is refused: {error}"),
        Err(_) => return tracing::debug!("a client of SOCKS5 is silent"),
    };
    let dialed = match &target {
        Ok(target) => shared.dialer.dial(client, target).await,
        Err(_) => Err(Error::Target { reason: "it is no host" }),
    };
    let mut server = match dialed {
        Ok(server) => server,
        Err(error) => {
            tracing::debug!("a client of SOCKS5 is refused: {error}");
            // It may be gone.
            _ = protocol.reply_error(&reply(&error)).await;
            return;
        }
    };
    // The address here is of no use to a client.
    let unspecified = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let Ok(mut stream) = protocol.reply_success(unspecified).await else { return };
    if let Err(error) = tunnel::join(&mut stream, &mut server).await {
        tracing::debug!("a tunnel has ended: {error}");
    }
}

type Asked<S> = (Socks5ServerProtocol<S, CommandRead>, Result<Target, Error>);

/// Reads what the client asks for.
async fn read<S: Stream>(shared: &Shared, stream: S) -> Result<Asked<S>, SocksServerError> {
    let authenticated = authenticate(shared, stream).await?;
    let (protocol, command, target) = authenticated.read_command().await?;
    if command != Socks5Command::TCPConnect {
        protocol.reply_error(&ReplyError::CommandNotSupported).await?;
        return Err(SocksServerError::UnknownCommand(0));
    }
    let target = match target {
        TargetAddr::Ip(address) => Target::new(&address.ip().to_string(), address.port()),
        TargetAddr::Domain(name, port) => Target::new(&name, port),
    };
    Ok((protocol, target))
}

async fn authenticate<S: Stream>(
    shared: &Shared,
    stream: S,
) -> Result<Socks5ServerProtocol<S, Authenticated>, SocksServerError> {
    let Some(credentials) = &shared.credentials else {
        return Socks5ServerProtocol::accept_no_auth(stream).await;
    };
    let opened = Socks5ServerProtocol::start(stream);
    let (name, password, given) =
        opened.negotiate_auth(&[PasswordAuthentication]).await?.read_username_password().await?;
    if credentials.are(&name, &password) {
        return Ok(Socks5ServerProtocol::finish_auth(given.accept().await?));
    }
    tokio::time::sleep(WRONG_PASSWORD).await;
    given.reject().await?;
    Err(SocksServerError::AuthenticationRejected)
}

/// Returns the answer of SOCKS5 for an error.
fn reply(error: &Error) -> ReplyError {
    match error {
        Error::Forbidden { .. } => ReplyError::ConnectionNotAllowed,
        Error::NoAddress { .. } => ReplyError::HostUnreachable,
        Error::Silent => ReplyError::TtlExpired,
        Error::Unreachable { source } if source.kind() == io::ErrorKind::ConnectionRefused => {
            ReplyError::ConnectionRefused
        }
        Error::Unreachable { .. } => ReplyError::NetworkUnreachable,
        _ => ReplyError::GeneralFailure,
    }
}
