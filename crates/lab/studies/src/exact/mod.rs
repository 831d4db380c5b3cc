//! Functions of the exact and fluid entries, by name: numbers in, one number out. Each paper has its own file.

mod alsaadi;
mod bagnulo;
mod carofiglio;
mod gong;
mod kuhn;

use crate::error::{Error, Result};

/// A function of a paper.
#[derive(Clone, Copy)]
pub struct Function {
    /// Its name in the papers' files.
    pub name: &'static str,
    /// Its inputs in order, with units, and its value.
    pub help: &'static str,
    /// The number of inputs.
    pub inputs: usize,
    /// Computes it.
    pub compute: fn(&[f64]) -> f64,
}

/// Returns every function, paper by paper.
pub fn all() -> impl Iterator<Item = &'static Function> {
    let papers: [&[Function]; 6] = [
        gong::FUNCTIONS,
        carofiglio::FUNCTIONS,
        carofiglio::EQUATIONS,
        kuhn::FUNCTIONS,
        alsaadi::FUNCTIONS,
        bagnulo::FUNCTIONS,
    ];
    papers.into_iter().flatten()
}

/// Returns the value of the function `name` at `inputs`.
///
/// # Errors
/// An unknown function, or another number of inputs.
pub fn compute(name: &str, inputs: &[f64]) -> Result<f64> {
    let function = all().find(|function| function.name == name);
    let function = function.ok_or_else(|| Error::NoReading(format!("there is no function {name:?}")))?;
    match function.inputs == inputs.len() {
        true => Ok((function.compute)(inputs)),
        false => {
            let (wanted, given) = (function.inputs, inputs.len());
            Err(Error::NoReading(format!("function {name}: {wanted} inputs are needed, {given} are given")))
        }
    }
}
