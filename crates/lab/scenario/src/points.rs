//! Lists that may be long, shared by the runs of a sweep: points of a trace, samples.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Deref;
use std::sync::Arc;

/// A list that costs nothing to clone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    from = "Vec<T>",
    into = "Vec<T>",
    bound(serialize = "T: Clone + Serialize", deserialize = "T: Deserialize<'de>")
)]
#[schemars(with = "Vec<T>", bound = "T: JsonSchema")]
pub struct Points<T>(Arc<[T]>);

impl<T> From<Vec<T>> for Points<T> {
    fn from(list: Vec<T>) -> Points<T> {
        Points(list.into())
    }
}

impl<T: Clone> From<Points<T>> for Vec<T> {
    fn from(points: Points<T>) -> Vec<T> {
        points.0.to_vec()
    }
}

impl<T> FromIterator<T> for Points<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Points<T> {
        Points(items.into_iter().collect())
    }
}

impl<T> Deref for Points<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}
