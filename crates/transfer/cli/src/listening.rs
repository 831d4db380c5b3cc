//! `afteryou receive` and `afteryou serve`, from the command line's words to the end.

use super::args::{Common, Listening, ReceiveArgs, ServeArgs};
use super::ctl::Job;
use super::qlogs::Logs;
use super::stage::{First, Stage};
use super::timetable::Direction;
use super::{network, qr, ready, sources, summary};
use afteryou_quic::Socket;
use afteryou_terminal::output::{self, complain};
use afteryou_terminal::Failure;
use afteryou_trace::qlog::Vantage;
use afteryou_transfer::guard::{Guard, Limits};
use afteryou_transfer::identity::{self, Identity};
use afteryou_transfer::job::{self, ListenOptions, Service};
use afteryou_transfer::source::Served;
use afteryou_transfer::store::{Store, StoreOptions};
use afteryou_transfer::ticket::{Address, Host, Role, Ticket};
use afteryou_transfer::{addresses, ssh, tls};
use anyhow::Context;
use quinn::AsyncUdpSocket;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::watch;

/// Runs `afteryou receive`.
pub async fn receive(args: &ReceiveArgs) -> Result<(), Failure> {
    let directory = &args.directory;
    sources::check_directory(directory)?;
    let mut options = StoreOptions::default();
    options.allow.delete = args.allowing.allow_delete;
    options.allow.backup = args.allowing.allow_backup;
    options.allow.links = args.allowing.allow_links;
    options.allow.owner = args.allowing.allow_owner;
    options.allow.xattrs = args.allowing.allow_xattrs;
    options.allow.acls = args.allowing.allow_acls;
    let store = Store::open(directory, options)?;
    let what = format!("into {}", shown(directory));
    let job = Job {
        command: "receive",
        done: "received",
        direction: Direction::Down,
        what,
        store: Some(store.clone()),
    };
    let hint = format!(
        "waiting for files, to put them into {}; on the other machine: afteryou send PATH... TICKET",
        shown(directory)
    );
    run(Service::Receive(store), Role::Receive, directory, &args.listening, &args.common, job, hint).await
}

/// Runs `afteryou serve`.
pub async fn serve(args: &ServeArgs) -> Result<(), Failure> {
    let directory = &args.directory;
    sources::refuse_ticket(directory)?;
    if !directory.is_dir() {
        return Err(Failure::usage(format!(
            "{} is no directory: name one whose files may be got",
            super::args::repeated(directory.as_os_str())
        )));
    }
    let options = sources::options(&args.common, args.symlinks, &args.choice)?;
    let service = Service::Serve { dir: Served::open(directory)?, options };
    let job =
        Job { command: "serve", done: "sent", direction: Direction::Up, what: shown(directory), store: None };
    let hint =
        format!("serving {}; on the other machine: afteryou get TICKET[/PATH] [DIR]", shown(directory));
    run(service, Role::Serve, directory, &args.listening, &args.common, job, hint).await
}

async fn run(
    service: Service,
    role: Role,
    directory: &Path,
    listening: &Listening,
    common: &Common,
    job: Job,
    hint: String,
) -> Result<(), Failure> {
    let logs = Logs::begin(common, job.command, Vantage::Server)?;
    let mut identity = identity(listening, common)?;
    if listening.new_ticket {
        identity.renew(role, directory)?;
    }
    let socket = socket(&mut identity, role, directory, listening, common)?;
    let secret = identity.secret(role, directory)?;
    let admissions = [tls::Admission { role, secret: secret.clone() }];
    let mut server = tls::server(&identity, &admissions)?;
    server.transport_config(network::transport(common, &logs)?);
    let limits = Limits::default();
    limits.apply(&mut server);
    let endpoint = network::endpoint(&socket, Some(server.clone()))?;
    let local = endpoint.local_addr()?;
    let addresses = in_ticket(&listening.addresses, local)?;
    let ticket = Ticket { role, fingerprint: identity.fingerprint(), secret, addresses };
    // Its words for people, without the secret.
    tracing::info!(%local, fingerprint = %ticket.fingerprint, "waiting with {ticket}");
    let ticket = ticket.to_line()?;

    let stage = Stage::start(&quiet_for_ssh(listening, common), job, First::Listens)?;
    let handed_over = tokio::select! {
        handed_over = hand_over(ticket, listening, common) => handed_over,
        // The reader of the ticket is gone; what follows ends at once.
        () = stage.stopped() => Ok(()),
    };
    if let Err(failure) = handed_over {
        _ = stage.end();
        return Err(failure);
    }
    if !listening.ticket_only {
        stage.say(hint);
    }
    ready::ready(&format!("waiting at {local}"));
    let shutdown = shutdown(&stage, listening.ticket_only);
    let options = ListenOptions {
        pace: stage.pace.clone(),
        listener: stage.listener(),
        state_of: network::state_of(),
        admitted: network::admitted(),
        arrival_of: network::arrival_of(socket),
        groups_in_events: common.json_groups,
        once: listening.once,
    };
    let door = Guard::new(endpoint.clone(), limits).config_for(network::by_host(common, server, &logs));
    let outcome = job::listen(door, service, options, shutdown).await;
    network::leave(&endpoint).await;
    let is_finished = stage.is_finished();
    let (_, output) = stage.end();
    let logged = logs.finish();
    let summary = outcome?;
    logged?;
    if !listening.once {
        // A failure was reported when it happened, which may be weeks ago; a service waits to be ended.
        return output;
    }
    if !is_finished {
        return Err(Failure::Stopped("stopped before a job was complete".to_owned()));
    }
    let verdict = summary::verdict(&summary, "sending them again tries again", common.strict, false);
    summary::with_output(verdict, output).map_err(|failure| match listening.ticket_only {
        // The side that started this one prints the same.
        true => Failure::Elsewhere(failure.code()),
        false => failure,
    })
}

/// Returns the settings for a command that ssh started: standard error is the user's terminal, and ours is shown there
/// already.
fn quiet_for_ssh(listening: &Listening, common: &Common) -> Common {
    let is_far_end = listening.ticket_only;
    Common { quiet: common.quiet || is_far_end, is_far_end, ..common.clone() }
}

/// Returns the identity that is kept, or one for this run alone.
fn identity(listening: &Listening, common: &Common) -> Result<Identity, Failure> {
    if listening.ticket_only {
        return Ok(Identity::ephemeral()?);
    }
    let state = match &common.state {
        Some(state) => state.clone(),
        None => identity::default_directory()?,
    };
    Ok(Identity::open(&state)?)
}

/// Ports that are tried for one that no other service asks for again.
const TRIES: usize = 16;

/// Binds the port of the last time if none is asked for, so that the ticket stays the same. While somebody else has that
/// port, another one serves for this run only.
fn socket(
    identity: &mut Identity,
    role: Role,
    directory: &Path,
    listening: &Listening,
    common: &Common,
) -> Result<Arc<Socket>, Failure> {
    let asked = listening.listen;
    if asked.port() != 0 {
        return network::socket(common, asked);
    }
    let last = identity.port(role, directory)?;
    let again = last.map(|port| {
        let mut address = asked;
        address.set_port(port);
        network::socket(common, address)
    });
    if let Some(Ok(socket)) = again {
        return Ok(socket);
    }
    let socket = any_socket(identity, role, directory, asked, common)?;
    let port = socket.local_addr()?.port();
    match last {
        // Earlier tickets are void then.
        Some(last) if !listening.new_ticket => tracing::warn!(
            "UDP port {last}, which earlier tickets name, is taken: they do not work while this process uses port {port}. The next \
             start asks for port {last} again"
        ),
        _ => identity.remember_port(role, directory, port)?,
    }
    Ok(socket)
}

/// Binds a port that no other service asks for at its next start, if there is one soon.
fn any_socket(
    identity: &Identity,
    role: Role,
    directory: &Path,
    asked: SocketAddr,
    common: &Common,
) -> Result<Arc<Socket>, Failure> {
    let mut socket = network::socket(common, asked)?;
    for _ in 1..TRIES {
        if !identity.is_of_another(socket.local_addr()?.port(), role, directory)? {
            break;
        }
        socket = network::socket(common, asked)?;
    }
    Ok(socket)
}

/// Returns the addresses of the ticket: the user's settings, and this machine's own ones, as far as `local` is reached
/// through them.
fn in_ticket(named: &[String], local: SocketAddr) -> Result<Vec<Address>, Failure> {
    let parse = |text: &String| Address::parse(text, local.port());
    let named: Vec<Address> = named.iter().map(parse).collect::<Result<_, _>>().map_err(Failure::usage)?;
    if !named.is_empty() {
        return Ok(named);
    }
    if !local.ip().is_unspecified() {
        return Ok(vec![Address { host: Host::Ip(local.ip()), port: local.port() }]);
    }
    let mut found =
        addresses::of_this_machine(&[], local.port()).context("cannot list this machine's addresses")?;
    if local.is_ipv4() {
        found.retain(|address| matches!(address.host, Host::Ip(ip) if ip.is_ipv4()));
    }
    Ok(found)
}

/// Hands the ticket to a file, to a program, or to the reader of stdout, which may take long.
async fn hand_over(ticket: String, listening: &Listening, common: &Common) -> Result<(), Failure> {
    if listening.qr {
        let code = qr::code(&ticket).unwrap_or_else(|| "the ticket is too long for a QR code".to_owned());
        complain(&format!("{code}\n"));
    }
    if let Some(path) = &listening.ticket_file {
        return Ok(write_private(path, &ticket).with_context(|| format!("cannot write {}", path.display()))?);
    }
    let line = match common.json {
        true => format!("{}\n", serde_json::json!({ "event": "ticket", "ticket": ticket })),
        false => format!("{ticket}\n"),
    };
    tokio::task::spawn_blocking(move || output::print_whole(&line)).await?
}

/// Writes the ticket so that it is never readable for others, even if another file had the name, and never half there.
fn write_private(path: &Path, ticket: &str) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    // Readable for its owner alone, under a name that nobody has.
    let mut file = tempfile::NamedTempFile::new_in(directory.unwrap_or(Path::new(".")))?;
    writeln!(file, "{ticket}")?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Becomes true when somebody requests the end; for a process that ssh started, that is also the end of ssh.
fn shutdown(stage: &Stage, is_from_ssh: bool) -> watch::Receiver<bool> {
    if is_from_ssh {
        let stop = stage.stopper();
        tokio::spawn(async move {
            ssh::parent_gone(tokio::io::stdin()).await;
            stop.send_replace(true);
        });
    }
    stage.shutdown()
}

fn shown(directory: &Path) -> String {
    match directory == Path::new(".") {
        true => "this directory".to_owned(),
        false => output::printable(&directory.to_string_lossy()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_has_the_addresses_that_lead_here() {
        let local: SocketAddr = "127.0.0.1:4747".parse().unwrap();
        let list = |named: &[&str], local| {
            let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
            let found = in_ticket(&named, local)?;
            Ok::<_, Failure>(found.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(list(&[], local).unwrap(), ["127.0.0.1:4747"]);
        assert_eq!(
            list(&["example.org", "[2001:db8::1]:5"], local).unwrap(),
            ["example.org:4747", "[2001:db8::1]:5"]
        );
        assert_eq!(list(&["a b"], local).unwrap_err().code(), 2);
        let any: SocketAddr = "0.0.0.0:4747".parse().unwrap();
        assert!(list(&[], any).unwrap().iter().all(|address| !address.starts_with('[')));
    }

    #[tokio::test]
    async fn a_port_that_is_taken_once_is_asked_for_again_and_a_new_ticket_takes_another_for_good() {
        let (state, files) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let start = |option: Option<&str>| {
            let words = ["afteryou", "receive", "--listen", "127.0.0.1:0"];
            let crate::TransferCommand::Receive(args) =
                crate::parsed(words.into_iter().chain(option)).unwrap()
            else {
                panic!("another command")
            };
            let mut identity = Identity::open(state.path()).unwrap();
            socket(&mut identity, Role::Receive, files.path(), &args.listening, &args.common).unwrap()
        };
        let port = |socket: &Socket| socket.local_addr().unwrap().port();
        let first = start(None);
        let instead = start(None);
        assert_ne!(port(&instead), port(&first), "the first is still there");
        let last = port(&first);
        drop((first, instead));
        assert_eq!(port(&start(None)), last);
        let taken = std::net::UdpSocket::bind(("127.0.0.1", last)).unwrap();
        let renewed = port(&start(Some("--new-ticket")));
        drop(taken);
        assert_eq!(port(&start(None)), renewed, "no ticket names the old port any more");
    }

    #[cfg(unix)]
    #[test]
    fn a_ticket_file_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ticket");
        std::fs::write(&path, "old").unwrap();
        std::fs::write(path.with_extension("new"), "unrelated").unwrap();
        write_private(&path, "new").unwrap();
        assert_eq!(std::fs::read_to_string(path.with_extension("new")).unwrap(), "unrelated");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new\n");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
