//! Phases of controllers as strips, one for each flow, where the scenario records senders.
//!
//! The phase in which the flows of a figure spend most of their time is a thin line. The others are bars, each paler than the one
//! before, and a key names them all: a strip can be read without its colour. Figures and pages draw the same strips.

use crate::palette::Style;
use afteryou_scenario::outcome::PhaseSpan;
use serde::Serialize;

/// More strips would leave no room for curves.
const MOST_FLOWS: usize = 4;
/// Height of a bar and of the thin line, px.
const BAR: f64 = 8.0;
const LINE: f64 = 2.0;
/// How much of its colour a bar has: that of the phase with most time first.
const SHADES: [f64; 3] = [1.0, 0.6, 0.3];

/// The strips of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phases {
    /// All phases, the one with most time first.
    pub kinds: Vec<Kind>,
    /// A strip for each flow with phases.
    pub strips: Vec<Strip>,
}

/// A phase and its look.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Kind {
    /// The phase, as controllers call it.
    pub name: String,
    /// Height of its bars, px.
    pub height: f64,
    /// How much of a flow's colour its bars have, 0 to 1.
    pub shade: f64,
}

/// The phases of one flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Strip {
    /// The flow.
    pub flow: String,
    /// The strip's look.
    pub style: Style,
    /// From, until, s, and the place of the phase among the kinds. Scripts find them in the outcome.
    #[serde(skip)]
    pub spans: Vec<(f64, f64, usize)>,
}

impl Phases {
    /// Returns the strips of these flows, in their order; none without phases, or of too many flows.
    pub fn of<'a>(spans: &[PhaseSpan], flows: impl Iterator<Item = (&'a str, Style)>) -> Option<Phases> {
        let of_flow = |flow: &str| spans.iter().filter(|span| span.flow == flow).collect::<Vec<_>>();
        let flows = flows.map(|(flow, style)| (flow, style, of_flow(flow)));
        let flows: Vec<_> = flows.filter(|(.., spans)| !spans.is_empty()).collect();
        if !(1..=MOST_FLOWS).contains(&flows.len()) {
            return None;
        }
        let names = by_time(flows.iter().flat_map(|(.., spans)| spans));
        let place = |phase: &str| names.iter().position(|name| *name == phase).unwrap_or(0);
        let strip = |(flow, style, spans): &(&str, Style, Vec<&PhaseSpan>)| Strip {
            flow: (*flow).to_owned(),
            style: *style,
            spans: spans.iter().map(|span| (span.from_s, span.to_s, place(&span.phase))).collect(),
        };
        let strips = flows.iter().map(strip).collect();
        let kinds = names.iter().enumerate().map(|(rank, name)| Kind::new(name, rank)).collect();
        Some(Phases { kinds, strips })
    }
}

impl Kind {
    fn new(name: &str, rank: usize) -> Kind {
        let (height, shade) = match rank.checked_sub(1) {
            None => (LINE, 1.0),
            Some(bar) => (BAR, SHADES[bar.min(SHADES.len() - 1)]),
        };
        Kind { name: name.to_owned(), height, shade }
    }
}

/// Returns names of phases, the one with most time first.
fn by_time<'a>(spans: impl Iterator<Item = &'a &'a PhaseSpan>) -> Vec<&'a str> {
    let mut times: Vec<(&str, f64)> = Vec::new();
    for span in spans {
        let time = span.to_s - span.from_s;
        match times.iter_mut().find(|(name, _)| *name == span.phase) {
            Some((_, known)) => *known += time,
            None => times.push((&span.phase, time)),
        }
    }
    times.sort_by(|a, b| b.1.total_cmp(&a.1));
    times.into_iter().map(|(name, _)| name).collect()
}
