//! The points of a grid: which combinations there are, and the scenario of each.

use crate::entry::{At, Axis, AxisValue, Grid};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::scenarios;
use afteryou_scenario::Checked;
use afteryou_scenario_file::Experiment;
use std::collections::BTreeMap;

/// A combination of the axes' values.
#[derive(Clone, Debug, PartialEq)]
pub struct GridPoint {
    /// Of each axis, in order, the label of its value.
    pub labels: Vec<(String, String)>,
    /// Of each axis whose labels begin with a number, that number.
    pub numbers: BTreeMap<String, f64>,
    /// The settings, as assignments.
    pub set: Vec<String>,
}

impl GridPoint {
    /// Returns the label of its value on an axis.
    pub fn label(&self, axis: &str) -> Option<&str> {
        self.labels.iter().find(|(name, _)| name == axis).map(|(_, label)| &**label)
    }

    /// Returns whether it is among the points that `at` names.
    pub fn is_at(&self, at: &At) -> bool {
        at.0.iter().all(|(axis, labels)| self.label(axis).is_some_and(|label| labels.has(label)))
    }

    /// Returns its labels without those of some axes, as words.
    pub fn words_without(&self, without: &[&str]) -> String {
        let kept = self.labels.iter().filter(|(axis, _)| !without.contains(&&**axis));
        kept.map(|(_, label)| &**label).collect::<Vec<_>>().join(", ")
    }

    /// Returns the scenario at this point with the seed of its `repetition`-th run, from 1.
    ///
    /// # Errors
    /// A scenario that is refused.
    pub fn scenario(&self, grid: &Grid, repetition: u32) -> Result<Checked> {
        let text = scenarios::scenario(&grid.scenario)
            .ok_or_else(|| Error::data(&grid.id, format!("there is no scenario {:?}", grid.scenario)))?;
        let experiment = Experiment::parse(text, &grid.scenario, &self.set)?;
        let run = experiment.lineup(None, Some(repetition))?.at(repetition as usize - 1)?;
        Ok(run.scenario)
    }
}

impl AxisValue {
    /// Returns its name in checks and tables.
    pub fn label(&self) -> String {
        match self {
            AxisValue::Number(number) => number.to_string(),
            AxisValue::Text(text) => text.clone(),
            AxisValue::Labelled(parts) => parts.first().cloned().unwrap_or_default(),
        }
    }

    fn set(&self, key: Option<&str>) -> Vec<String> {
        match (self, key) {
            (AxisValue::Labelled(parts), _) => parts.iter().skip(1).cloned().collect(),
            (AxisValue::Number(number), Some(key)) => vec![format!("{key}={number}")],
            (AxisValue::Text(text), Some(key)) => vec![format!("{key}={text:?}")],
            (_, None) => Vec::new(),
        }
    }
}

/// Returns the number that a label begins with: 25 of "25 ms".
fn number(label: &str) -> Option<f64> {
    label.split_whitespace().next()?.parse().ok()
}

impl Axis {
    fn values(&self, extent: Extent) -> impl Iterator<Item = &AxisValue> {
        let thin = self.quick.as_ref().filter(|_| extent == Extent::Quick);
        self.values.iter().filter(move |value| thin.is_none_or(|thin| thin.contains(&value.label())))
    }
}

impl Grid {
    /// Returns its points, the last axis varying fastest.
    pub fn points(&self, extent: Extent) -> Vec<GridPoint> {
        let start = GridPoint { labels: Vec::new(), numbers: BTreeMap::new(), set: self.set.clone() };
        self.axes.iter().fold(vec![start], |points, axis| {
            points.iter().flat_map(|point| axis.values(extent).map(|value| point.on(axis, value))).collect()
        })
    }

    /// Returns the repetitions that are run, from 1.
    pub fn repetitions(&self, extent: Extent) -> std::ops::RangeInclusive<u32> {
        let usual = self.usual_seeds.unwrap_or(self.seeds);
        match extent {
            Extent::Quick => 1..=self.quick_seeds,
            Extent::Usual => 1..=usual,
            Extent::Full => 1..=self.seeds,
            Extent::Second => usual + 1..=2 * usual,
        }
    }

    /// Returns the points at which the verdict is taken: settings that the paper does not state at their defaults.
    pub fn defaults(&self) -> At {
        let default =
            |axis: &Axis| Some((axis.name.clone(), crate::entry::Labels::One(axis.default.clone()?)));
        At(self.axes.iter().filter_map(default).collect())
    }
}

impl GridPoint {
    fn on(&self, axis: &Axis, value: &AxisValue) -> GridPoint {
        let mut point = self.clone();
        let label = value.label();
        point.numbers.extend(number(&label).map(|number| (axis.name.clone(), number)));
        point.labels.push((axis.name.clone(), label));
        point.set.extend(value.set(axis.key.as_deref()));
        point
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        toml::from_str(
            r#"
            id = "g"
            scenario = "gong-g0.toml"
            seeds = 3
            [[axis]]
            name = "queue"
            key = "link.queue"
            values = ["droptail", "codel"]
            [[axis]]
            name = "rtt"
            key = "flow.*.rtt"
            values = ["20 ms", "50 ms"]
            default = "50 ms"
            quick = ["50 ms"]
            "#,
        )
        .unwrap()
    }

    #[test]
    fn the_last_axis_varies_fastest_and_a_quick_run_has_fewer_values() {
        let words = |extent| grid().points(extent).iter().map(|p| p.words_without(&[])).collect::<Vec<_>>();
        assert_eq!(
            words(Extent::Usual),
            ["droptail, 20 ms", "droptail, 50 ms", "codel, 20 ms", "codel, 50 ms"]
        );
        assert_eq!(words(Extent::Quick), ["droptail, 50 ms", "codel, 50 ms"]);
        assert_eq!(grid().points(Extent::Usual)[2].numbers["rtt"], 20.0);
    }

    #[test]
    fn repetitions_have_the_seeds_of_the_file_in_turn() {
        let point = grid().points(Extent::Quick).remove(1);
        let seeds = |repetition| point.scenario(&grid(), repetition).unwrap().seed;
        assert_eq!(seeds(3), seeds(1) + 2);
        assert_eq!(grid().repetitions(Extent::Second), 4..=6);
    }
}
