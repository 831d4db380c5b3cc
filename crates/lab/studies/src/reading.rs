//! The readings of a measure.

use serde::{Deserialize, Serialize};

/// A number, or a list of them by place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reading {
    /// One number.
    One(f64),
    /// Numbers by place: D_p(1), D_p(2) and so on.
    List(Vec<f64>),
    /// Points of a curve, for figures.
    Curve(Vec<[f64; 2]>),
}

impl Reading {
    /// Returns the number; of a list there is none.
    pub fn number(&self) -> Option<f64> {
        match self {
            Reading::One(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the list; a number is a list of one.
    pub fn list(&self) -> Vec<f64> {
        match self {
            Reading::One(number) => vec![*number],
            Reading::List(list) => list.clone(),
            Reading::Curve(points) => points.iter().map(|[_, y]| *y).collect(),
        }
    }
}

impl From<f64> for Reading {
    fn from(number: f64) -> Reading {
        Reading::One(number)
    }
}
