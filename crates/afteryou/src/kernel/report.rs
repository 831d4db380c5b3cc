//! The report of `afteryou kernel status`, as text and as JSON.

use afteryou_kernel::choosers::{self, Route};
use afteryou_kernel::sockets::{self, Connection};
use afteryou_kernel::{is_ours, pinned, release, settings, Error, NAMES};
use serde::Serialize;

/// Processes that change congestion controllers by themselves.
const TUNERS: [&str; 1] = ["bpftune"];

/// All that is known about controllers on this machine.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Release of the kernel.
    pub kernel: String,
    /// Version and hash of the object that `afteryou kernel load` has loaded; `None`: none, or unreadable without root.
    pub object: Option<String>,
    /// Reason why base delays, queues and phases are not read.
    pub unread: Option<String>,
    /// The controllers that are loaded.
    pub controllers: Vec<Controller>,
    /// Connections of this network namespace that use one of them.
    pub connections: Vec<Row>,
    /// Other ways in which controllers are chosen.
    pub others: Others,
}

/// A loaded controller.
#[derive(Clone, Debug, Serialize)]
pub struct Controller {
    /// For `TCP_CONGESTION`.
    pub name: String,
    /// Whether users without privileges may choose it.
    pub for_users: bool,
    /// Its connections in this network namespace.
    pub connections: usize,
}

/// A connection.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its own address.
    pub local: String,
    /// The peer's address.
    pub peer: String,
    /// Name of the controller.
    pub controller: String,
    /// Congestion window, bytes.
    pub window_bytes: u64,
    /// Smoothed round-trip time, ms.
    pub rtt_ms: f64,
    /// Base delay, ms.
    pub base_ms: Option<f64>,
    /// Queuing delay, ms.
    pub queue_ms: Option<f64>,
    /// Phase in words.
    pub phase: Option<String>,
}

/// Other ways in which controllers are chosen.
#[derive(Clone, Debug, Serialize)]
pub struct Others {
    /// Controller of sockets that choose none (`net.ipv4.tcp_congestion_control`).
    pub default: String,
    /// Routes with `congctl`.
    pub routes: Vec<RouteRow>,
    /// Names of loaded programs of type sock_ops, which may choose for the sockets of a cgroup.
    pub sock_ops: Vec<String>,
    /// Processes that change controllers by themselves.
    pub tuners: Vec<String>,
}

/// A route with `congctl`.
#[derive(Clone, Debug, Serialize)]
pub struct RouteRow {
    /// Destination.
    pub to: String,
    /// Number of its table.
    pub table: u32,
    /// Name of the controller.
    pub controller: String,
}

impl Report {
    /// Looks at this machine.
    ///
    /// # Errors
    /// Connections or routes cannot be listed.
    pub fn of_this_machine() -> Result<Report, Error> {
        let (object, pinned) = (pinned::pinned_identity(), pinned::states());
        let is_foreign = object.as_ref().is_ok_and(|object| *object != pinned::identity());
        let unread = match &pinned {
            _ if is_foreign => Some("another build of afteryou loaded the controllers".to_owned()),
            Err(Error::NotPinned) => Some("only those of `afteryou kernel load` can be read".to_owned()),
            Err(Error::NotPermitted) => Some("it requires root".to_owned()),
            Err(error) => Some(error.to_string()),
            Ok(_) => None,
        };
        let all = sockets::connections(&pinned.unwrap_or_default());
        let all = all.map_err(|error| Error::listing("connections", error))?;
        let (available, allowed) = (settings::available(), settings::allowed());
        let mut connections: Vec<Row> = all.iter().filter(|one| is_ours(&one.controller)).map(row).collect();
        connections
            .sort_by(|a, b| (&a.controller, &a.local, &a.peer).cmp(&(&b.controller, &b.local, &b.peer)));
        // Those of runs come last.
        let of_runs = available.iter().filter(|name| !NAMES.contains(&name.as_str()) && is_ours(name));
        let of_all = NAMES.iter().filter(|name| available.iter().any(|found| found == *name));
        let controllers: Vec<Controller> = of_all
            .map(|name| (*name).to_owned())
            .chain(of_runs.cloned())
            .map(|name| Controller {
                for_users: allowed.contains(&name),
                connections: connections.iter().filter(|row| row.controller == name).count(),
                name,
            })
            .collect();
        Ok(Report {
            kernel: release(),
            object: object.ok(),
            unread: unread.filter(|_| !controllers.is_empty()),
            controllers,
            connections,
            others: others()?,
        })
    }
}

fn row(connection: &Connection) -> Row {
    let ms = |span: std::time::Duration| span.as_secs_f64() * 1000.0;
    let state = connection.state;
    let delays = state.and_then(|state| state.delays);
    let phase = connection.recovery.or(state.and_then(|state| state.phase));
    Row {
        local: connection.local.to_string(),
        peer: connection.peer.to_string(),
        controller: connection.controller.clone(),
        window_bytes: connection.window,
        rtt_ms: ms(connection.rtt),
        base_ms: delays.map(|(base, _)| ms(base)),
        queue_ms: delays.map(|(_, queue)| ms(queue)),
        phase: phase.map(str::to_owned),
    }
}

fn others() -> Result<Others, Error> {
    let routes = choosers::routes().map_err(|error| Error::listing("routes", error))?;
    let route = |Route { to, table, controller }| RouteRow { to, table, controller };
    Ok(Others {
        default: settings::default_name(),
        routes: routes.into_iter().map(route).collect(),
        sock_ops: choosers::programs(),
        tuners: TUNERS.iter().filter(|name| choosers::runs(name)).map(|name| (*name).to_owned()).collect(),
    })
}

/// Formats a report.
pub fn text(report: &Report) -> String {
    let mut text = format!("Linux {}", report.kernel);
    match (&report.object, report.controllers.is_empty()) {
        (_, true) => text += "; no controllers of afteryou are loaded\n",
        (Some(object), _) => text += &format!("; controllers of afteryou {object}\n"),
        (None, _) => text += "\n",
    }
    let controllers = report.controllers.iter().map(|one| {
        let is_for = match (NAMES.contains(&one.name.as_str()), one.for_users) {
            (false, _) => "of one `afteryou run`",
            (true, true) => "chosen by every user",
            (true, false) => "chosen by root and CAP_NET_ADMIN",
        };
        vec![one.name.clone(), is_for.to_owned(), count(one.connections)]
    });
    text += &table(controllers.collect());
    if !report.connections.is_empty() {
        let head =
            ["controller", "from", "to", "window", "round trip", "base", "queue", "phase"].map(str::to_owned);
        text += "\n";
        text += &table([head.to_vec()].into_iter().chain(report.connections.iter().map(cells)).collect());
    }
    if let Some(reason) = report.unread.as_ref().filter(|_| !report.connections.is_empty()) {
        text += &format!("base, queue and phase are not read: {reason}\n");
    }
    text + "\n" + &others_text(&report.others)
}

fn count(connections: usize) -> String {
    match connections {
        1 => "1 connection in this network namespace".to_owned(),
        _ => format!("{connections} connections in this network namespace"),
    }
}

fn cells(row: &Row) -> Vec<String> {
    let ms = |ms: Option<f64>| ms.map_or("-".to_owned(), |ms| format!("{ms:.1} ms"));
    vec![
        row.controller.clone(),
        row.local.clone(),
        row.peer.clone(),
        format!("{:.1} kB", row.window_bytes as f64 / 1000.0),
        ms(Some(row.rtt_ms)),
        ms(row.base_ms),
        ms(row.queue_ms),
        row.phase.clone().unwrap_or("-".to_owned()),
    ]
}

fn others_text(others: &Others) -> String {
    let mut lines = vec![format!("default of this network namespace: {}", others.default)];
    lines.extend(
        others
            .routes
            .iter()
            .map(|route| format!("route to {} (table {}): {}", route.to, route.table, route.controller)),
    );
    if !others.sock_ops.is_empty() {
        lines
            .push(format!("sock_ops programs, which may choose for a cgroup: {}", others.sock_ops.join(" ")));
    }
    lines.extend(
        others.tuners.iter().map(|name| format!("{name} runs, which may replace a program's choice")),
    );
    lines.join("\n") + "\n"
}

/// Formats cells in aligned columns, two spaces apart.
fn table(rows: Vec<Vec<String>>) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        Report {
            kernel: "6.18.0".into(),
            object: Some("0.1.0-1".into()),
            unread: None,
            controllers: vec![Controller { name: "ay_ledbatpp".into(), for_users: false, connections: 1 }],
            connections: vec![Row {
                local: "10.0.0.1:40000".into(),
                peer: "10.0.0.2:22".into(),
                controller: "ay_ledbatpp".into(),
                window_bytes: 14_480,
                rtt_ms: 52.0,
                base_ms: Some(40.0),
                queue_ms: Some(11.96),
                phase: Some("congestion avoidance".into()),
            }],
            others: Others {
                default: "cubic".into(),
                routes: vec![RouteRow { to: "default".into(), table: 254, controller: "bbr".into() }],
                sock_ops: vec![],
                tuners: vec!["bpftune".into()],
            },
        }
    }

    #[test]
    fn a_connection_has_its_delays_and_its_phase_in_columns() {
        let expected = "\
Linux 6.18.0; controllers of afteryou 0.1.0-1
ay_ledbatpp  chosen by root and CAP_NET_ADMIN  1 connection in this network namespace

controller   from            to           window   round trip  base     queue    phase
ay_ledbatpp  10.0.0.1:40000  10.0.0.2:22  14.5 kB  52.0 ms     40.0 ms  12.0 ms  congestion avoidance

default of this network namespace: cubic
route to default (table 254): bbr
bpftune runs, which may replace a program's choice
";
        assert_eq!(text(&report()), expected);
    }

    #[test]
    fn what_is_not_read_is_said_with_the_reason() {
        let mut report = report();
        report.unread = Some("it requires root".into());
        let row = report.connections.remove(0);
        report.connections.push(Row { base_ms: None, queue_ms: None, phase: None, ..row });
        let text = text(&report);
        assert!(text.contains("52.0 ms     -     -      -\n"), "{text}");
        assert!(text.contains("base, queue and phase are not read: it requires root\n"), "{text}");
    }

    #[test]
    fn without_controllers_the_rest_is_reported_all_the_same() {
        let report = Report { controllers: vec![], connections: vec![], ..report() };
        let text = text(&report);
        assert!(text.starts_with("Linux 6.18.0; no controllers of afteryou are loaded\n\ndefault"), "{text}");
    }
}
