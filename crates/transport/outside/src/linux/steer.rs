//! Steers the connections of a process tree and of a roster: reads them, asks the rule, and sets windows and rates.

use super::connection::{Connection, Settings};
use super::fitness::{fitness, Fitness};
use super::in_kernel::InKernel;
use super::record::Record;
use super::roster::{Added, Roster};
use super::scan::{Found, Scan};
use super::sending::Sending;
use super::shared::Shared;
use super::status::Status;
use super::system;
use super::traffic::Traffic;
use crate::rule::group::{FIRST_WINDOW, WAITING_DOWNLOAD, WAITING_UPLOAD_PER_S};
use crate::rule::rate::rate;
use crate::rule::{law, Direction, Granted, Group, Id, Params, Part, Reading};
use afteryou_base::{Span, Time};
use std::collections::HashMap;
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// Time between two ticks: the lag of the rule, and what the kernel's own measures resolve.
pub const TICK: Duration = Duration::from_millis(10);
/// … or this many times of the processor time that one takes: 1.25 % of a core.
const SHARE: u32 = 80;
/// Idle connections that a tick reads. Of many, each is read in its turn.
const IDLE_READ: usize = 10;
/// A connection that is not where it was has this long to be found elsewhere, and two rounds of the scan: its descriptor may be in a message
/// to another process.
const LOST_KEPT: Duration = Duration::from_secs(2);

/// A connection that is not where it was.
#[derive(Debug)]
struct Lost {
    since: Instant,
    /// Complete rounds of the scan by then.
    rounds: u64,
    connection: Connection,
}

/// Steers a process tree, and the sockets of a roster.
#[derive(Debug)]
pub struct Steer {
    root: i32,
    roster: Roster,
    /// Time of the first tick.
    began: Option<Instant>,
    scan: Scan,
    shared: Shared,
    traffic: Traffic,
    connections: Vec<Connection>,
    /// Those that are not where they were, by cookie.
    lost: HashMap<u64, Lost>,
    /// Where the next tick begins to read idle ones.
    next_idle: usize,
    /// The list by which others can restore the sockets.
    record: Option<Record>,
    down: Group,
    up: Group,
    in_kernel: InKernel,
    sending: Sending,
    /// Bytes a second that each direction may use, if there is a bound.
    max_rate: Option<f64>,
    pause: Duration,
}

impl Steer {
    /// Creates the steering of this process's own connections, and its descendants', from now on.
    pub fn of_this_process(params: Params, max_rate: Option<f64>) -> Steer {
        let own = i32::try_from(std::process::id()).unwrap_or_default();
        Steer { scan: Scan::with_own(), ..Steer::new(own, params, max_rate) }
    }

    /// Creates the steering of `root` and its descendants but for this process, from now on. `max_rate` is a bound of each direction, bytes
    /// a second.
    pub fn new(root: i32, params: Params, max_rate: Option<f64>) -> Steer {
        Steer {
            root,
            roster: Roster::default(),
            began: None,
            scan: Scan::without_own(),
            shared: Shared::default(),
            traffic: Traffic::default(),
            connections: Vec::new(),
            lost: HashMap::new(),
            next_idle: 0,
            record: None,
            down: Group::new(Direction::Down, params),
            up: Group::new(Direction::Up, params),
            in_kernel: InKernel::default(),
            sending: Sending::default(),
            max_rate,
            pause: TICK,
        }
    }

    /// Creates the steering of the sockets of a roster and of no others.
    pub fn of_roster(roster: Roster, params: Params, max_rate: Option<f64>) -> Steer {
        Steer { scan: Scan::off(), roster, ..Steer::new(0, params, max_rate) }
    }

    /// Adds the sockets of a roster.
    pub fn with_roster(self, roster: Roster) -> Steer {
        Steer { roster, ..self }
    }

    /// Notes in `record` what each socket had, before it is changed.
    pub fn recorded(self, record: Record) -> Steer {
        Steer { record: Some(record), ..self }
    }

    /// Leaves what connections send to rules in the kernel, where there are any.
    pub fn with_in_kernel(self, in_kernel: InKernel) -> Steer {
        Steer { in_kernel, ..self }
    }

    /// Returns how many connections were seen that do not use TCP.
    pub fn udp(&self) -> u64 {
        self.scan.udp
    }

    /// Returns whether a connection's uploads are steered from here, since no rule in the kernel decides what it sends.
    pub fn has_own_uploads(&self) -> bool {
        self.up.places().1 > 0
    }

    /// Returns a process whose sockets may not be touched, if there was one.
    pub fn refused(&self) -> Option<i32> {
        self.scan.refused
    }

    /// Sets the bound of each direction, bytes a second. At 0 all connections trickle.
    pub fn set_max_rate(&mut self, max_rate: Option<f64>) {
        self.max_rate = max_rate;
    }

    /// Returns the time from the beginning of the last tick to that of the next one: [`TICK`], or more if there are very many connections.
    pub fn pause(&self) -> Duration {
        self.pause
    }

    /// Returns the state of a direction.
    pub fn status(&self, direction: Direction) -> Status {
        let in_kernel = self.connections.iter().filter(|connection| connection.is_in_kernel());
        let group = match direction {
            Direction::Down => &self.down,
            Direction::Up if in_kernel.clone().next().is_some() => {
                return self.sending.status(in_kernel.map(|connection| &connection.info));
            }
            Direction::Up => &self.up,
        };
        let (active, wanting) = group.places();
        let (moved, round) = group.moved();
        Status {
            active,
            wanting,
            queue: group.law().queue().map(Span::from_secs_f64),
            base: group.base(),
            rate: moved / round.as_secs_f64().max(1e-3),
            is_yielding: group.is_yielding(),
        }
    }

    /// Gives every socket its settings back.
    pub fn give_back(&mut self) {
        for connection in std::mem::take(&mut self.connections) {
            self.leave_alone(&connection);
        }
    }

    /// Finds connections, reads them, and sets their windows and rates. A socket's duplicate lives for some microseconds of it.
    pub fn tick(&mut self, now: Instant) {
        let began = *self.began.get_or_insert(now);
        self.find(now);
        let spent = system::processor_time();
        self.read(now);
        let time = Time(u64::try_from(now.duration_since(began).as_nanos()).unwrap_or(u64::MAX));
        self.steer(time, now);
        self.pause = TICK.max(system::processor_time().saturating_sub(spent) * SHARE);
    }

    /// Takes over connections that are new, and those that were lost and are elsewhere.
    fn find(&mut self, now: Instant) {
        for found in self.scan.look(now, self.root) {
            // It may be gone again.
            let _ = self.take_over(now, found);
        }
        for added in self.roster.take() {
            let _ = self.take_own(now, added);
        }
        let rounds = self.scan.rounds();
        let over = |lost: &Lost| now.duration_since(lost.since) >= LOST_KEPT && rounds >= lost.rounds + 2;
        let over: Vec<u64> =
            self.lost.iter().filter(|(_, lost)| over(lost)).map(|(cookie, _)| *cookie).collect();
        for cookie in over {
            self.lost.remove(&cookie);
            self.forget(cookie);
        }
        for inode in self.shared.look(now, self.scan.tree()) {
            self.scan.exclude(inode);
            let shared = self.connections.iter().position(|connection| connection.inode == inode);
            if let Some(connection) = shared.map(|index| self.connections.remove(index)) {
                self.leave_alone(&connection);
            }
        }
    }

    /// Begins to steer a connection, before its first data if it is found in time.
    fn take_over(&mut self, now: Instant, found: Found) -> io::Result<()> {
        if let Some(Lost { mut connection, .. }) = self.lost.remove(&found.place.cookie) {
            (connection.place, connection.inode) = (found.place, found.inode);
            self.scan.settle(found.inode);
            self.note(&connection);
            self.connections.push(connection);
            return Ok(());
        }
        let socket = self.scan.duplicate(&found.place)?;
        let info = system::tcp_info(socket.as_fd())?;
        let original = match fitness(socket.as_fd(), &info)? {
            Fitness::Fit(original) => original,
            Fitness::NotYet => return Ok(()),
            Fitness::Never => {
                self.scan.settle(found.inode);
                return Ok(());
            }
        };
        self.scan.settle(found.inode);
        self.shared.ask(found.inode);
        let mut connection = Connection::new(now, found, original, info);
        connection.choose_controller(socket.as_fd(), &self.in_kernel);
        self.note(&connection);
        let first = Settings { window: Some(FIRST_WINDOW), rate: None };
        connection.set(socket.as_fd(), &first);
        self.connections.push(connection);
        Ok(())
    }

    /// Begins to steer a connection of the roster, which has its first window already.
    fn take_own(&mut self, now: Instant, added: Added) -> io::Result<()> {
        let Some(socket) = added.socket.upgrade() else { return Ok(()) };
        let mut connection = Connection::own(now, added, (*socket).as_fd())?;
        connection.choose_controller((*socket).as_fd(), &self.in_kernel);
        self.connections.push(connection);
        Ok(())
    }

    /// Reads the connections that are not idle, and some of those that are.
    fn read(&mut self, now: Instant) {
        let count = self.connections.len();
        let idle = (0..count).map(|step| (self.next_idle + step) % count);
        let due: Vec<usize> =
            idle.filter(|index| self.connections[*index].is_idle(now)).take(IDLE_READ).collect();
        self.next_idle = due.last().map_or(0, |index| index + 1);
        let mut is_due = vec![false; count];
        due.into_iter().for_each(|index| is_due[index] = true);
        let connections = std::mem::take(&mut self.connections);
        for (mut connection, is_due) in connections.into_iter().zip(is_due) {
            if !is_due && connection.is_idle(now) {
                self.connections.push(connection);
                continue;
            }
            match self.read_one(now, &mut connection) {
                Ok(()) if connection.is_local() => self.leave_alone(&connection),
                Err(_) if connection.is_own() => {}
                Err(error) if is_gone(&error) => {
                    self.scan.unsettle(connection.inode);
                    let lost = Lost { since: now, rounds: self.scan.rounds(), connection };
                    self.lost.insert(lost.connection.place.cookie, lost);
                }
                // Too many files may be open: that passes.
                Ok(()) | Err(_) => self.connections.push(connection),
            }
        }
    }

    fn read_one(&mut self, now: Instant, connection: &mut Connection) -> io::Result<()> {
        let socket = connection.socket(&self.scan)?;
        let before = connection.info.delivered;
        if connection.read(now, socket.as_fd())? {
            self.note(connection);
        }
        if connection.is_in_kernel() {
            let packets = connection.info.delivered.wrapping_sub(before);
            self.sending.add(u64::from(packets) * u64::from(connection.info.snd_mss));
        }
        Ok(())
    }

    /// Asks the rule, and sets what is to change.
    fn steer(&mut self, time: Time, now: Instant) {
        let busy = || self.connections.iter().filter(|connection| !connection.is_idle(now));
        let downs: Vec<Reading> = busy().filter_map(Connection::down).collect();
        let ups = busy().filter(|connection| !connection.is_in_kernel()).filter_map(Connection::up);
        let ups: Vec<Reading> = ups.collect();
        self.sending.tick(now);
        let in_kernel = self.status(Direction::Up);
        self.traffic.read(now, self.root);
        self.down.note_opposite_rate(time, self.traffic.sent_per_s());
        self.up.note_opposite_rate(time, self.traffic.received_per_s());
        let windows = by_id(self.down.tick(time, &downs));
        let shares = by_id(self.up.tick(time, &ups));
        for mut connection in std::mem::take(&mut self.connections) {
            let id = Id(connection.place.cookie);
            let settings = Settings {
                window: windows.get(&id).map(|granted| self.window(&connection, granted)),
                rate: match connection.is_in_kernel() {
                    true => Some(self.part(in_kernel.wanting)),
                    false => shares.get(&id).and_then(|granted| self.rate(granted)),
                },
            };
            if connection.differs(&settings) {
                self.set(&mut connection, &settings);
            }
            self.connections.push(connection);
        }
    }

    fn set(&mut self, connection: &mut Connection, settings: &Settings) {
        // If it is gone, the next tick notices.
        let Ok(socket) = connection.socket(&self.scan) else { return };
        connection.set(socket.as_fd(), settings);
    }

    /// Returns the window that a download may have, bytes.
    fn window(&self, connection: &Connection, granted: &Granted) -> f64 {
        let Some(max_rate) = self.max_rate else { return granted.window };
        let active = match granted.part {
            Part::Active => self.down.places().0.max(1) as f64,
            // Left alone, also in a pause; but not more than all may have.
            Part::Quiet if max_rate > 0.0 => 1.0,
            Part::Quiet | Part::Waiting => return granted.window,
        };
        let info = &connection.info;
        let rtt = f64::from(info.rcv_rtt.max(1)) * 1e-6;
        let least = if max_rate > 0.0 { 2.0 * f64::from(info.advmss) } else { WAITING_DOWNLOAD };
        granted.window.min((max_rate * rtt / active).max(least))
    }

    /// Returns the rate that an upload may have, bytes a second.
    fn rate(&self, granted: &Granted) -> Option<f64> {
        let starting = self.up.law().phase() == law::Phase::SlowStart;
        let member = self.up.member(granted.id)?;
        let wanted = rate(member, granted, self.up.base_of(member)?, starting);
        Some(wanted.min(self.part(self.up.places().0)))
    }

    /// Returns the part of the largest rate that an upload of several may have, bytes a second.
    fn part(&self, uploads: usize) -> f64 {
        let part = |max_rate: f64| (max_rate / uploads.max(1) as f64).max(WAITING_UPLOAD_PER_S);
        self.max_rate.map_or(f64::INFINITY, part)
    }

    /// Gives a socket its settings back.
    fn leave_alone(&mut self, connection: &Connection) {
        if let Ok(socket) = connection.socket(&self.scan) {
            connection.original.give_back(socket.as_fd());
        }
        self.forget(connection.place.cookie);
    }

    fn note(&mut self, connection: &Connection) {
        // An own socket ends with this process.
        if connection.is_own() {
            return;
        }
        if let Some(record) = &mut self.record {
            record.note(&connection.place, &connection.original);
        }
    }

    fn forget(&mut self, cookie: u64) {
        if let Some(record) = &mut self.record {
            record.forget(cookie);
        }
    }
}

fn by_id(granted: Vec<Granted>) -> HashMap<Id, Granted> {
    granted.into_iter().map(|granted| (granted.id, granted)).collect()
}

/// Returns whether a socket is not where it was: the process, the descriptor, or what that means is another.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        || [libc::EBADF, libc::ESRCH, libc::ENOTSOCK].map(Some).contains(&error.raw_os_error())
}
