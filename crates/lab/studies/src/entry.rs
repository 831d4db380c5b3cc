//! A paper as data: its experiments, and what each must show.
//!
//! A **grid** is a scenario file with settings and axes: every combination of the axes' values, each with several seeds. An **entry**
//! is one figure, table or sentence of the paper; its **checks** take a measure of the runs of a grid, judge the readings and hold
//! the values against a band. A check without runs names a function and cases instead. One file of a paper holds its grids and its
//! entries, another one the misses that are explained.

use serde::Deserialize;
use std::collections::BTreeMap;

/// A paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Its short name: "gong2012".
    pub id: String,
    /// Authors and year.
    pub authors: String,
    /// The paper's title.
    pub title: String,
    /// It is no paper of others: it is run only if it is named.
    #[serde(default)]
    pub by_name: bool,
    /// Runs that checks refer to.
    #[serde(rename = "grid", default)]
    pub grids: Vec<Grid>,
    /// Its experiments, in the order of the paper.
    #[serde(rename = "entry")]
    pub entries: Vec<Entry>,
}

/// Runs of a scenario: the combinations of the axes' values, each with all seeds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Its name in the paper's checks.
    pub id: String,
    /// The file in `scenarios/papers` or `scenarios/questions` of this crate.
    pub scenario: String,
    /// Assignments that hold at every point: `link.queue="codel"`.
    #[serde(default)]
    pub set: Vec<String>,
    /// The settings that vary.
    #[serde(rename = "axis", default)]
    pub axes: Vec<Axis>,
    /// Seeds of each point, as many as the paper or its protocol asks for.
    pub seeds: u32,
    /// Seeds of the usual run where all of them take too long.
    pub usual_seeds: Option<u32>,
    /// Seeds of the quick run.
    #[serde(default = "one")]
    pub quick_seeds: u32,
    /// Points of this grid are left out of the quick run, with the checks that need them.
    #[serde(default)]
    pub slow: bool,
}

fn one() -> u32 {
    1
}

/// A setting that varies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Its name in checks.
    pub name: String,
    /// The key that the values are given to, where each value is a value of one key.
    pub key: Option<String>,
    /// The values, in order.
    pub values: Vec<AxisValue>,
    /// The paper does not state this setting: the verdict is taken at this value, and the others are shown beside it.
    pub default: Option<String>,
    /// Values of the quick run; all of them by default.
    pub quick: Option<Vec<String>>,
}

/// A value of an axis.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum AxisValue {
    /// A number for the axis's key.
    Number(f64),
    /// A value for the axis's key, as a string: "25 ms".
    Text(String),
    /// A label, and the assignments that it stands for.
    Labelled(Vec<String>),
}

/// How an entry is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Arithmetic, a closed form, or a rule fed with events.
    Exact,
    /// The fluid model.
    Fluid,
    /// The packet simulator.
    Simulation,
    /// The paper used real packets; the simulator replaces them.
    Testbed,
    /// No experiment: a statement about the world.
    Context,
}

impl Kind {
    /// Returns the word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Exact => "exact",
            Kind::Fluid => "fluid",
            Kind::Simulation => "simulation",
            Kind::Testbed => "testbed",
            Kind::Context => "context",
        }
    }
}

/// A figure, a table or a sentence of a paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its name within the paper: "fig1-droptail".
    pub id: String,
    /// Where in the paper it is: "figure 1".
    pub place: String,
    /// The paper's claim, in our words.
    pub claim: String,
    /// How it is answered.
    pub kind: Kind,
    /// Private data of the paper, and their replacement.
    pub stand_in: Option<String>,
    /// A remark for readers of the verdict.
    pub note: Option<String>,
    /// Conditions on runs.
    #[serde(rename = "check", default)]
    pub checks: Vec<Check>,
    /// Conditions on functions.
    #[serde(rename = "exact", default)]
    pub exact: Vec<Exact>,
    /// The paper's figures, drawn again.
    #[serde(rename = "figure", default)]
    pub figures: Vec<Figure>,
}

/// A figure of the paper, on the paper's own axes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The figure's title.
    pub title: String,
    /// How it is drawn.
    pub kind: Drawn,
    /// The grid; none for a phase plane.
    pub grid: Option<String>,
    /// The points of the grid.
    #[serde(default)]
    pub at: At,
    /// The measure; of rings the outer one.
    pub measure: Option<Call>,
    /// The measure of the inner ring.
    pub inner: Option<Call>,
    /// Flows that have a curve each: the measure's `of` in turn.
    #[serde(default)]
    pub flows: Vec<String>,
    /// The axis of the grid that is drawn across.
    pub x: Option<String>,
    /// The axis that makes lines, or the rows of a map and of rings.
    pub by: Option<String>,
    /// The axis, or axes, that make panels of a map.
    #[serde(default)]
    pub panels: Vec<String>,
    /// Words at the horizontal axis, with the unit.
    #[serde(default)]
    pub x_label: String,
    /// Words at the vertical axis, with the unit.
    #[serde(default)]
    pub y_label: String,
    /// The ends of the paper's horizontal axis.
    pub x_range: Option<[f64; 2]>,
    /// The ends of the paper's vertical axis.
    pub y_range: Option<[f64; 2]>,
    /// The horizontal axis keeps ratios.
    #[serde(default)]
    pub logarithmic: bool,
    /// Points that the paper prints, in the units of the axes.
    #[serde(default)]
    pub published: Vec<[f64; 2]>,
    /// Values of the paper as horizontal lines.
    #[serde(rename = "rule", default)]
    pub rules: Vec<Rule>,
}

impl Figure {
    /// Returns its measures, of curves with the flow that each is of.
    pub fn measures(&self) -> Vec<(&str, Call)> {
        let Some(measure) = &self.measure else { return Vec::new() };
        match self.flows.is_empty() {
            true => vec![("", measure.clone())],
            false => self.flows.iter().map(|flow| (&**flow, measure.with_text("of", flow))).collect(),
        }
    }
}

/// A horizontal line in a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The rule's value.
    pub at: f64,
    /// The rule in words.
    pub words: String,
}

/// Forms of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drawn {
    /// A number of each point along an axis.
    Lines,
    /// A curve of each point's first seed, over time.
    Curves,
    /// Lists by place, such as D_p(N), averaged over seeds.
    Lists,
    /// A colour for each pair of two axes.
    Map,
    /// Two shares for each pair of two axes.
    Rings,
    /// Tracks of the fluid model through its states.
    PhasePlane,
}

/// Limits of a value; one without any limit is reported and not judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// The smallest value inside.
    pub min: Option<f64>,
    /// The largest value inside.
    pub max: Option<f64>,
}

impl Band {
    /// Returns whether it has a limit.
    pub fn judges(self) -> bool {
        self.min.is_some() || self.max.is_some()
    }

    /// Returns whether `value` is inside. A value that is not a number is not.
    pub fn holds(self, value: f64) -> bool {
        !value.is_nan() && self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }
}

/// A call by name, with arguments.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Called")]
pub struct Call {
    /// The name of the function.
    pub name: String,
    /// The call's arguments.
    pub with: Args,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Called {
    Name(String),
    Full {
        name: String,
        #[serde(flatten)]
        with: Args,
    },
}

impl Call {
    /// Returns the same call with this argument.
    fn with_text(&self, name: &str, value: &str) -> Call {
        let mut call = self.clone();
        call.with.0.insert(name.to_owned(), value.into());
        call
    }
}

impl From<Called> for Call {
    fn from(called: Called) -> Call {
        match called {
            Called::Name(name) => Call { name, with: Args::default() },
            Called::Full { name, with } => Call { name, with },
        }
    }
}

/// Arguments by name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Args(pub BTreeMap<String, toml::Value>);

/// Conditions on the runs of a grid.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Its name within the entry.
    pub id: String,
    /// The quantity, for people: "mean queue".
    pub what: String,
    /// The unit of the value: "packets"; empty for ratios.
    #[serde(default)]
    pub unit: String,
    /// The grid.
    pub grid: String,
    /// The points of the grid: axis to label or labels. An axis that is not named is taken whole.
    #[serde(default)]
    pub at: At,
    /// The measure, taken of each run.
    pub measure: Call,
    /// The judgement of all readings.
    #[serde(default = "each")]
    pub judge: Call,
    /// Limits that decide.
    #[serde(default)]
    pub band: Band,
    /// The paper's own statement, as people read it: "nearly 400".
    pub published: Option<String>,
    /// The paper's own limits, where they differ from the band.
    pub published_band: Option<Band>,
    /// This check decides nothing: it is the run that explains a miss.
    #[serde(default)]
    pub explains: bool,
    /// The quick run leaves this check out, because its axes are thinner.
    #[serde(default)]
    pub slow: bool,
}

fn each() -> Call {
    Call { name: "each".to_owned(), with: Args::default() }
}

/// Points of a grid: axis to one label, or to several.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct At(pub BTreeMap<String, Labels>);

/// One label, or several.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Labels {
    /// One.
    One(String),
    /// Any of these.
    Several(Vec<String>),
}

impl Labels {
    /// Returns whether `label` is among them.
    pub fn has(&self, label: &str) -> bool {
        match self {
            Labels::One(one) => one == label,
            Labels::Several(several) => several.iter().any(|one| one == label),
        }
    }

    /// Returns all labels.
    pub fn all(&self) -> &[String] {
        match self {
            Labels::One(one) => std::slice::from_ref(one),
            Labels::Several(several) => several,
        }
    }
}

/// Conditions on a function.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exact {
    /// Its name within the entry.
    pub id: String,
    /// The quantity, for people.
    pub what: String,
    /// The unit of the value; empty for ratios.
    #[serde(default)]
    pub unit: String,
    /// The name of the function.
    pub function: String,
    /// Inputs and what must come out.
    pub cases: Vec<Case>,
    /// The largest relative error of a case with a value.
    #[serde(default = "exactly")]
    pub relative: f64,
    /// The largest absolute error of a case with a value, if that is more.
    #[serde(default)]
    pub absolute: f64,
    /// The paper's own statement.
    pub published: Option<String>,
    /// Whether the paper's own number agrees. Left out where the paper has none.
    pub published_met: Option<bool>,
}

fn exactly() -> f64 {
    1e-9
}

/// Inputs of a function, and what must come out.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The function's inputs, in its order.
    #[serde(rename = "in", default)]
    pub inputs: Vec<f64>,
    /// The value that must come out, within the tolerance.
    pub value: Option<f64>,
    /// Or the limits of it.
    #[serde(default)]
    pub band: Band,
}

impl Exact {
    /// Returns the limits of a case.
    pub fn band(&self, case: &Case) -> Band {
        let Some(value) = case.value else { return case.band };
        let width = (self.relative * value.abs()).max(self.absolute);
        Band { min: Some(value - width), max: Some(value + width) }
    }
}
