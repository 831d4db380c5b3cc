//! Programs of the user as flows: one in the senders' namespace, and one in the receivers' if the scenario names it.
//!
//! The receiver's program starts before the run and the sender's at the flow's start. The sender's ends by itself or at the
//! flow's stop. Every program leads a process group, which is killed when the run is over; so are programs that have left it.
//!
//! In arguments `{peer}` and `{peer6}` are the peer's addresses, `{own}` and `{own6}` those of the program's side. The same are
//! in the environment, as `AFTERYOU_PEER`, `AFTERYOU_PEER6`, `AFTERYOU_OWN` and `AFTERYOU_OWN6`.

use crate::error::Error;
use crate::net::{Family, Side, Topology};
use afteryou_base::lock::EvenPoisoned;
use afteryou_base::Span;
use afteryou_scenario::traffic::Command as Words;
use afteryou_scenario::{Flow, Scenario, Traffic};
use nix::sys::signal::{killpg, Signal};
use nix::unistd::Pid;
use std::io::{self, BufRead, BufReader};
use std::net::IpAddr;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

/// A program has this long to end after SIGTERM.
const GRACE: Span = Span::from_secs(1);

/// The programs of a run. Dropping it kills them.
pub(super) struct Programs<'a> {
    topology: &'a Topology,
    flows: Vec<OfFlow<'a>>,
}

/// The programs of a flow.
struct OfFlow<'a> {
    index: usize,
    flow: &'a Flow,
    words: &'a Words,
    server: Option<Program>,
    sender: State,
    started: Option<Span>,
}

enum State {
    Waiting,
    Running(Program),
    /// SIGTERM was sent at this time.
    Stopping(Program, Span),
    Ended(Span),
}

/// A running program.
struct Program {
    name: String,
    child: Child,
    /// The newest line that it wrote to standard error.
    complaint: Arc<Mutex<String>>,
}

impl<'a> Programs<'a> {
    /// Checks that all programs are there, and starts those of receivers.
    pub(super) fn start(scenario: &'a Scenario, topology: &'a Topology) -> Result<Programs<'a>, Error> {
        let mut flows = Vec::new();
        for (index, flow) in scenario.flow.iter().enumerate() {
            let Traffic::Command(words) = &flow.traffic else { continue };
            for name in [&words.command, &words.server].into_iter().filter_map(|words| words.first()) {
                is_there(name).map_err(|reason| failed(flow, reason))?;
            }
            let server = match words.server.is_empty() {
                true => None,
                false => Some(spawn(topology, (index, flow), Side::Receivers, &words.server)?),
            };
            flows.push(OfFlow { index, flow, words, server, sender: State::Waiting, started: None });
        }
        Ok(Programs { topology, flows })
    }

    /// Starts and stops what is due; an error names a program that failed.
    pub(super) fn poll(&mut self, now: Span) -> Result<(), Error> {
        self.flows.iter_mut().try_for_each(|flow| flow.poll(self.topology, now))
    }

    /// Returns when each flow of a program began and ended.
    pub(super) fn times(&self) -> impl Iterator<Item = (usize, Option<Span>, Option<Span>)> + '_ {
        self.flows.iter().map(|flow| {
            let ended = match flow.sender {
                State::Ended(at) => Some(at),
                _ => None,
            };
            (flow.index, flow.started, ended)
        })
    }

    /// Finishes the programs after the run: an error names a program that has not ended.
    pub(super) fn finish(&self) -> Result<(), Error> {
        let unfinished =
            |flow: &&OfFlow<'_>| matches!(flow.sender, State::Running(_)) && flow.flow.stop.is_none();
        match self.flows.iter().find(unfinished) {
            None => Ok(()),
            Some(OfFlow { flow, words, .. }) => {
                let name = words.command.first().map_or("", String::as_str);
                let advice = "give it less to do, or set the flow's stop";
                Err(failed(flow, format!("{name} had not ended when the run did: {advice}")))
            }
        }
    }
}

impl OfFlow<'_> {
    fn poll(&mut self, topology: &Topology, now: Span) -> Result<(), Error> {
        let (flow, words) = (self.flow, self.words);
        if let (Some(server), false) = (&mut self.server, matches!(self.sender, State::Ended(_))) {
            if let Some(trouble) = server.failure() {
                return Err(failed(flow, trouble));
            }
        }
        let is_stopped = flow.stop.is_some_and(|stop| now >= stop.0);
        self.sender = match std::mem::replace(&mut self.sender, State::Ended(now)) {
            State::Waiting if now >= flow.start.0 => {
                self.started = Some(now);
                State::Running(spawn(topology, (self.index, flow), Side::Senders, &words.command)?)
            }
            State::Running(mut program) => match program.failure() {
                Some(trouble) => return Err(failed(flow, trouble)),
                None if program.has_ended() => State::Ended(now),
                None if is_stopped => {
                    program.signal(Signal::SIGTERM);
                    State::Stopping(program, now)
                }
                None => State::Running(program),
            },
            State::Stopping(mut program, since) => match program.has_ended() || now > since + GRACE {
                true => State::Ended(since),
                false => State::Stopping(program, since),
            },
            same => same,
        };
        Ok(())
    }
}

impl Program {
    fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Returns one clause if it has ended without success.
    fn failure(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten().filter(|status| !status.success())?;
        let complaint = self.complaint.lock().even_poisoned();
        let name = &self.name;
        Some(match complaint.is_empty() {
            true => format!("{name} ended with {status}"),
            false => format!("{name} ended with {status} after it wrote {:?}", *complaint),
        })
    }

    fn signal(&self, signal: Signal) {
        // It may be gone already.
        let _ = killpg(Pid::from_raw(self.child.id() as i32), signal);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

fn spawn(
    topology: &Topology,
    (index, flow): (usize, &Flow),
    side: Side,
    words: &[String],
) -> Result<Program, Error> {
    let places = places(topology.families(), side, index);
    let filled = |word: &String| filled(word, &places).map_err(|reason| failed(flow, reason));
    let Some((name, arguments)) = words.split_first() else {
        return Err(failed(flow, "its command is empty".to_owned()));
    };
    let mut command = Command::new(name);
    command.args(arguments.iter().map(filled).collect::<Result<Vec<String>, Error>>()?);
    command.envs(places.iter().map(|(_, name, address)| (name, address.to_string())));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    let mut child = topology
        .namespace(side)
        .spawn(command)
        .map_err(|error| failed(flow, format!("{name} cannot be started: {error}")))?;
    let complaint = Arc::default();
    if let Some(errors) = child.stderr.take() {
        let newest = Arc::clone(&complaint);
        let read = move || keep_newest(BufReader::new(errors), &newest);
        thread::Builder::new().name("standard error".to_owned()).spawn(read).map_err(Error::Thread)?;
    }
    Ok(Program { name: name.clone(), child, complaint })
}

/// A word of a program's command, its variable, and the address that it stands for.
type Place = (&'static str, &'static str, IpAddr);

/// Returns the addresses of a flow for the program on this side: those of the kernel's families.
fn places(families: &[Family], side: Side, flow: usize) -> Vec<Place> {
    let of_family = |family: &Family| {
        let [peer, own] = match family {
            Family::V4 => [("peer", "AFTERYOU_PEER"), ("own", "AFTERYOU_OWN")],
            Family::V6 => [("peer6", "AFTERYOU_PEER6"), ("own6", "AFTERYOU_OWN6")],
        };
        let place = |(word, variable), side: Side| (word, variable, side.address(*family, flow));
        [place(peer, side.opposite()), place(own, side)]
    };
    families.iter().flat_map(of_family).collect()
}

/// Fills the addresses into a word. Refuses one that the kernel does not have.
fn filled(word: &str, places: &[Place]) -> Result<String, String> {
    let filled = places.iter().fold(word.to_owned(), |word, (place, _, address)| {
        word.replace(&format!("{{{place}}}"), &address.to_string())
    });
    match ["{peer6}", "{own6}"].iter().find(|place| filled.contains(**place)) {
        Some(place) => Err(format!(
            "this kernel has no IPv6, which {place} stands for: write {}",
            place.replace('6', "")
        )),
        None => Ok(filled),
    }
}

/// Keeps the newest line that is not empty, until the program closes its end.
fn keep_newest(errors: impl BufRead, newest: &Mutex<String>) {
    for line in errors.split(b'\n').map_while(io::Result::ok) {
        let line = String::from_utf8_lossy(&line).trim().to_owned();
        if !line.is_empty() {
            *newest.lock().even_poisoned() = line;
        }
    }
}

/// Returns whether the program exists, by its path or in the search path.
fn is_there(name: &str) -> Result<(), String> {
    let search = std::env::var_os("PATH").unwrap_or_default();
    let is_found = match name.contains('/') {
        true => Path::new(name).is_file(),
        false => std::env::split_paths(&search).any(|folder| folder.join(name).is_file()),
    };
    match is_found {
        true => Ok(()),
        false => Err(format!("there is no program {name}: install it, or write its path")),
    }
}

fn failed(flow: &Flow, reason: String) -> Error {
    Error::Flow { flow: flow.name.clone(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_get_the_addresses_that_the_kernel_has() {
        let of = |families: &[Family], word: &str| filled(word, &places(families, Side::Senders, 0));
        assert_eq!(of(&Family::BOTH, "[{peer6}]:80").unwrap(), "[fd00:2::1]:80");
        assert_eq!(of(&[Family::V4], "{own}-{peer}").unwrap(), "10.1.0.1-10.2.0.1");
        let message = of(&[Family::V4], "{peer6}").unwrap_err();
        assert_eq!(message, "this kernel has no IPv6, which {peer6} stands for: write {peer}");
    }
}
