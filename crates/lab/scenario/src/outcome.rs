//! The outcome of an experiment, in the same form from every engine.
//!
//! An outcome carries the whole scenario, the version, the seed and the engine, and is enough to draw every figure again.
//! Times are seconds since the start of the run, rates bit/s of payload, delays ms; every field has its unit in its name.
//!
//! | module | holds |
//! |---|---|
//! | `window`, `sender` | figures of a window: each link, each flow, its sender over time |
//! | `set`, `steps`, `curve_steps` | a set of flows in a window, and what follows from its rates over time |
//! | `link` | a link in the whole run: packets, bytes, its queue |
//! | `completions` | transfers of a flow: how long they took, what became of the bytes |
//! | `completion_cost` | how long transfers took, with the background and without |
//! | `compare` | what the background cost: each flow and each link with it and without |
//! | `crossing` | which flows' data cross which link |
//! | `curves`, `quantiles` | curves and marks; distributions |
//! | `doubts` | what makes a run's figures doubtful |
//! | `judged` | checks, verdicts, compared transfers, lateness |
//! | `read`, `schema1` | an outcome from JSON, of this format or of an earlier one |

mod compare;
mod completion_cost;
mod completions;
mod crossing;
mod curve_steps;
mod curves;
mod doubts;
mod judged;
mod link;
mod quantiles;
mod read;
mod schema1;
mod schema2;
mod sender;
mod set;
mod steps;
mod window;

pub use crate::network::{BOTTLENECK, REVERSE_PATH};
pub use compare::{Comparison, LinkComparison};
pub use completion_cost::{CompletionCost, CompletionTimes};
pub use completions::{Completions, Offered, SizeClass, WindowCompletions, MOST_TIMES, SIZE_CLASSES};
pub use curves::{Exact, Mark, PhaseSpan, Series};
pub use judged::{Check, Lateness, Transfer, Verdict};
pub use link::{class_name, ClassCounts, Ledger, LinkTotals, Packets};
pub use quantiles::{round, Quantiles};
pub use read::ReadError;
pub use sender::{Levels, SenderFigures, Stalls};
pub use set::{AfterLoss, SetAtLink, SetFigures, SetTransfers, ShortTerm, Starved};
pub use steps::{Member, Steps};
pub use window::{
    jain, BucketFigures, ClassFigures, FlowAtLink, FlowFigures, HostFigures, LinkFigures, QueueLength,
    WindowFigures,
};

use crate::content::ContentHash;
use crate::scenario::Scenario;
use crossing::{Crossing, Crossings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// Version of this format. [`Outcome::from_json`] reads it and the earlier ones, and refuses later ones.
pub const SCHEMA_VERSION: u32 = 4;

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Version of afteryou that ran it.
    pub afteryou_version: String,
    /// The engine: "bed", "sim", "fluid".
    pub engine: String,
    /// The name of the run: BLAKE3 of engine, version and scenario as canonical JSON, see [`content_hash`].
    pub content_hash: ContentHash,
    /// The scenario that was run.
    pub scenario: Scenario,
    /// The point of the sweep: the varied settings and their values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub point: BTreeMap<String, String>,
    /// The number of the repetition, from 1.
    #[serde(default = "first_repetition")]
    #[schemars(range(min = 1))]
    pub repetition: u32,
    /// The run.
    pub run: Run,
    /// The same run without the background flows, if the scenario asks for it.
    pub baseline: Option<Run>,
    /// The run held against the baseline, for each window and foreground flow.
    pub comparison: Vec<Comparison>,
    /// The run held against the baseline, for each window and link that data of the foreground cross.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub link_comparison: Vec<LinkComparison>,
    /// Transfers whose two ends were compared.
    pub transfers: Vec<Transfer>,
    /// Values held against bounds.
    pub checks: Vec<Check>,
    /// The outcome in plain words, if somebody judged it.
    pub verdict: Option<Verdict>,
    /// Reasons to doubt the figures: flows of which no data arrived, windows that ran away.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
}

fn first_repetition() -> u32 {
    1
}

/// One run as it was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// How long it took, s.
    pub duration_s: f64,
    /// Figures of each window of the scenario.
    pub windows: Vec<WindowFigures>,
    /// Figures of each set of flows that the scenario names, in its window.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sets: Vec<SetFigures>,
    /// Curves.
    pub series: Vec<Series>,
    /// Moments worth a mark in a figure.
    pub marks: Vec<Mark>,
    /// Events of senders at their very times, where the scenario records events.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub events: Vec<Exact>,
    /// Events beyond those that are kept of each flow.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub events_left_out: u64,
    /// Phases of the controllers of flows with one connection at a time, where the scenario records senders.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub phases: Vec<PhaseSpan>,
    /// Each link in the whole run, the bottleneck first.
    pub links: Vec<LinkTotals>,
    /// How late the emulation was, for engines that run in real time.
    pub lateness: Option<Lateness>,
    /// Counters of each flow in the whole run, where the engine has them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub totals: Vec<Totals>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Totals of a flow over the whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// The flow.
    pub flow: String,
    /// Data packets sent, retransmissions included.
    pub packets: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Packets that the sender took for lost.
    pub losses: u64,
    /// Packets taken for lost that had arrived.
    pub spurious: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Timeouts of handshakes: no answer came to a SYN, which was sent again. Not of programs, whose connections nobody here opens.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub handshake_timeouts: u64,
    /// Payload that arrived, each byte once.
    pub received_bytes: u64,
    /// From the start until the last byte arrived in order, s, for a flow with an end that came to it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completed_in_s: Option<f64>,
    /// Its transfers, for a flow whose application makes several.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completions: Option<Completions>,
}

/// Returns the name of a run: the content hash of the object `{"afteryou_version", "engine", "scenario"}`, with the scenario
/// as in an outcome. The seed is one of the scenario's fields.
///
/// Equal inputs give equal hashes on every machine, so that a run which is planned is found among those that are stored.
/// A point of a sweep and a repetition enter by the scenario that they make. The version enters because another one may
/// measure otherwise.
///
/// ```
/// # use afteryou_scenario::{outcome::content_hash, Link, Scenario};
/// let link = Link::new("10 Mbit/s".parse()?, "100 ms".parse()?);
/// let scenario = Scenario::new("nothing", "1 s".parse()?, link);
/// assert_eq!(content_hash("sim", "0.1.0", &scenario), content_hash("sim", "0.1.0", &scenario.clone()));
/// assert_ne!(content_hash("sim", "0.1.0", &scenario), content_hash("fluid", "0.1.0", &scenario));
/// # Ok::<(), afteryou_scenario::Error>(())
/// ```
pub fn content_hash(engine: &str, version: &str, scenario: &Scenario) -> ContentHash {
    /// The hashed fields, under their names in an outcome.
    #[derive(Serialize)]
    struct Run<'a> {
        afteryou_version: &'a str,
        engine: &'a str,
        scenario: &'a Scenario,
    }
    let run = Run { afteryou_version: version, engine, scenario };
    // All its maps have names for keys, so JSON can hold it.
    ContentHash::of(&run).unwrap_or_else(|error| unreachable!("bug: {error}"))
}

impl Outcome {
    /// Creates the outcome of `scenario` from `engine` of version `version`; the comparisons follow from the two runs.
    pub fn new(engine: &str, version: &str, scenario: Scenario, run: Run, baseline: Option<Run>) -> Outcome {
        let (mut comparison, mut link_comparison) = (Vec::new(), Vec::new());
        if let Some(baseline) = &baseline {
            comparison = Outcome::compare(&scenario, &run, baseline);
            link_comparison = Outcome::compare_links(&scenario, &run, baseline, &comparison);
        }
        let warnings = doubts::doubts(&scenario, &run);
        Outcome {
            schema_version: SCHEMA_VERSION,
            afteryou_version: version.to_owned(),
            engine: engine.to_owned(),
            content_hash: content_hash(engine, version, &scenario),
            scenario,
            point: BTreeMap::new(),
            repetition: first_repetition(),
            run,
            baseline,
            comparison,
            link_comparison,
            transfers: Vec::new(),
            checks: Vec::new(),
            verdict: None,
            warnings,
        }
    }
}

impl Outcome {
    /// Returns the links whose figures are of interest: those that data of some flow cross. The others carry
    /// acknowledgements alone. Where no data cross any link it is the first.
    pub fn data_links<'a>(&'a self) -> Vec<DataLink<'a>> {
        let crossings = Crossings::of(&self.scenario);
        let links = crossings.links().enumerate();
        let carrying = links.filter(|(_, crossing)| !crossing.is_empty());
        let link = |(index, crossing): (usize, &Crossing<'a>)| DataLink {
            index,
            flows: crossing.keys().copied().collect(),
        };
        let carrying: Vec<_> = carrying.map(link).collect();
        match carrying.is_empty() {
            true => vec![DataLink { index: 0, flows: HashSet::new() }],
            false => carrying,
        }
    }
}

/// A link that data cross.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLink<'a> {
    /// Its place among the links of the run, and of each window.
    pub index: usize,
    /// The flows whose data cross it.
    pub flows: HashSet<&'a str>,
}

impl Run {
    /// Returns the link called `name`.
    pub fn link(&self, name: &str) -> Option<&LinkTotals> {
        self.links.iter().find(|link| link.link == name)
    }

    /// Returns the first link: the only one that data cross in most scenarios. None where nothing was measured.
    pub fn bottleneck(&self) -> Option<&LinkTotals> {
        self.links.first()
    }
}
