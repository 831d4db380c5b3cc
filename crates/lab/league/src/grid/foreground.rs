//! Foregrounds: nobody, a transfer, short flows, pages, a video, a call, a constant rate, or one that comes and goes.

use super::file::{millis, seconds};
use std::fmt::Write;

/// A foreground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreground {
    /// Nobody: the background has the path to itself.
    Nobody,
    /// Transfers without an end, by a controller of this name.
    Bulk(&'static str),
    /// Transfers of some ten kilobytes that begin one after another.
    Short,
    /// Users who fetch pages.
    Pages,
    /// Segments of an adaptive video.
    Video,
    /// A voice call.
    Call,
    /// Datagrams at a constant rate.
    Constant,
    /// A transfer that comes and goes.
    OnOff,
}

/// Every foreground with its share of the grid.
pub const SHARES: &[(Foreground, f64)] = &[
    (Foreground::Nobody, 22.0),
    (Foreground::Bulk("newreno"), 7.0),
    (Foreground::Bulk("cubic"), 17.0),
    (Foreground::Bulk("bbr"), 7.0),
    (Foreground::Bulk("bbr3"), 6.0),
    (Foreground::Short, 10.0),
    (Foreground::Pages, 8.0),
    (Foreground::Video, 6.0),
    (Foreground::Call, 7.0),
    (Foreground::Constant, 5.0),
    (Foreground::OnOff, 5.0),
];

/// Where and when a foreground is.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The link's rate, bit/s.
    pub rate_bit_s: f64,
    /// Its base round-trip time, ms.
    pub rtt_ms: f64,
    /// From and until, s.
    pub from_s: f64,
    /// Its end, s.
    pub to_s: f64,
    /// The transport of flows with a controller, as in files.
    pub transport: &'a str,
    /// Jitter of its data, as in files.
    pub jitter: &'a str,
    /// A drawn number in [0, 1): how much of it there is.
    pub amount: f64,
}

impl Foreground {
    /// Returns its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Foreground::Nobody => "nobody",
            Foreground::Bulk(controller) => controller,
            Foreground::Short => "short flows",
            Foreground::Pages => "pages",
            Foreground::Video => "video",
            Foreground::Call => "call",
            Foreground::Constant => "constant rate",
            Foreground::OnOff => "on and off",
        }
    }

    /// Returns whether it fills the link by itself.
    pub fn is_bulk(self) -> bool {
        matches!(self, Foreground::Bulk(_))
    }

    /// Returns whether its goodput is what it loses: it takes all that it gets.
    pub fn is_greedy(self) -> bool {
        matches!(self, Foreground::Bulk(_) | Foreground::OnOff)
    }

    /// Returns whether it makes transfers whose times count.
    pub fn has_transfers(self) -> bool {
        matches!(self, Foreground::Short | Foreground::Pages | Foreground::Video)
    }

    /// Returns its flow as a scenario file has it; nothing of nobody.
    pub fn file(self, place: &Place<'_>) -> String {
        let mut text = String::new();
        if self == Foreground::Nobody {
            return text;
        }
        let Place { rate_bit_s, rtt_ms, from_s, to_s, transport, jitter, amount } = *place;
        let start = seconds(from_s);
        let _ = write!(
            text,
            "\n[[flow]]\nname       = \"foreground\"\nrtt        = \"{}\"\nstart      = {{ uniform = [\"{start}\", \"{}\"] }}\nstop       = \"{}\"\njitter     = {jitter}\n",
            millis(rtt_ms),
            seconds(from_s + rtt_ms / 1e3),
            seconds(to_s),
        );
        if let Some(controller) = self.controller() {
            let _ = writeln!(text, "controller = \"{controller}\"\ntransport  = {transport}");
        }
        // One transfer in half of the cells, two or three in the others.
        if let Foreground::Bulk(_) = self {
            let count = 1 + ((amount - 0.5).max(0.0) * 4.0) as u32;
            let _ = writeln!(text, "count      = {count}");
        }
        if let Some(traffic) = self.traffic(rate_bit_s, amount) {
            let _ = writeln!(text, "traffic    = {traffic}");
        }
        text
    }

    fn controller(self) -> Option<&'static str> {
        match self {
            Foreground::Bulk(controller) => Some(controller),
            Foreground::Call | Foreground::Constant | Foreground::Nobody => None,
            _ => Some("cubic"),
        }
    }

    /// Returns its traffic as files have it; `amount` from 0 to 1 goes through its loads.
    fn traffic(self, rate_bit_s: f64, amount: f64) -> Option<String> {
        let load = |from: f64, to: f64| rate_bit_s * (from + (to - from) * amount);
        Some(match self {
            Foreground::Nobody | Foreground::Bulk(_) => return None,
            // Mean 59 kB: median 30 kB times e^(1.16²/2).
            Foreground::Short => {
                let every_s = 59_000.0 * 8.0 / load(0.15, 0.5);
                format!(
                    "{{ arrivals = {{ exponential = \"{}\" }}, size = {{ lognormal = {{ median = \"30 kB\", sigma = 1.16, clip = [\"2 kB\", \"2 MB\"] }} }} }}",
                    millis(every_s * 1e3)
                )
            }
            // A page of eight objects has 131 kB in the mean, and a user looks at it for 5 s.
            Foreground::Pages => {
                let users = (load(0.1, 0.4) * 5.0 / (131_000.0 * 8.0)).round().clamp(1.0, 100.0);
                format!(
                    "{{ web = {{ users = {users}, think = {{ exponential = \"5 s\" }}, objects = 8, size = {{ lognormal = {{ median = \"10 kB\", sigma = 1.0 }} }}, connections = 6 }} }}"
                )
            }
            Foreground::Video => {
                let bytes = load(0.2, 0.6) / 8.0 * 2.0;
                format!("{{ every = \"2 s\", size = \"{} B\" }}", bytes.round())
            }
            Foreground::Call => "{ cbr = \"64 kbit/s\", payload = \"160 B\" }".to_owned(),
            Foreground::Constant => {
                let gaps = if amount < 0.5 { "equal" } else { "exponential" };
                format!(
                    "{{ cbr = \"{} bit/s\", payload = \"1200 B\", gaps = \"{gaps}\" }}",
                    load(0.2, 0.8).round()
                )
            }
            Foreground::OnOff => {
                let on_s = 1.0 + 5.0 * amount;
                format!("{{ on = \"{}\", off = \"{}\" }}", seconds(on_s), seconds(6.5 - on_s))
            }
        })
    }
}
