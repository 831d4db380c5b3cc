//! One control: a slider, a menu or a switch, and the way its value is written in the text.

use crate::edit::Step;
use afteryou_base::param::{Kind, Param, Value};
use serde::Serialize;

/// One control.
#[derive(Serialize)]
pub struct Dial {
    path: Vec<Step>,
    label: String,
    /// A sentence or a few words.
    help: String,
    /// Whether it is a parameter of an algorithm. The page keeps those in a part that opens.
    parameter: bool,
    #[serde(flatten)]
    what: What,
}

#[derive(Serialize)]
#[serde(tag = "what", rename_all = "lowercase")]
enum What {
    Slider { value: f64, unit: &'static str, min: f64, max: f64, form: Form, whole: bool },
    Menu { value: String, choices: Vec<(String, String)> },
    Switch { value: bool },
}

/// The scale of a slider, and how its value is written.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Equal steps; `"5 ms"`.
    Linear,
    /// Equal ratios; `"5 ms"`.
    Log,
    /// Equal steps; `{ uniform = "5 ms" }`, and nothing at zero.
    Uniform,
    /// Equal steps; a number without a unit.
    Bare,
}

/// A range of a parameter may reach over eleven decades, where no slider finds a value: so far around the default.
const AROUND: f64 = 20.0;

impl Dial {
    /// Creates a slider of a setting.
    pub fn slider(
        path: Vec<Step>,
        label: &str,
        value: f64,
        unit: &'static str,
        (min, max): (f64, f64),
        form: Form,
    ) -> Dial {
        let (min, max) = (min.min(value), max.max(value));
        let what = What::Slider { value, unit, min, max, form, whole: unit == "packets" };
        Dial { path, label: label.to_owned(), help: String::new(), parameter: false, what }
    }

    /// Creates a menu of names, each with a few words.
    pub fn menu(path: Vec<Step>, label: &str, value: &str, choices: Vec<(&str, &str)>) -> Dial {
        let choices = choices.into_iter().map(|(name, words)| (name.to_owned(), words.to_owned())).collect();
        let what = What::Menu { value: value.to_owned(), choices };
        Dial { path, label: label.to_owned(), help: String::new(), parameter: false, what }
    }

    /// Creates the dial of a parameter of its table.
    pub fn parameter(path: Vec<Step>, param: &'static Param, value: Value) -> Dial {
        let what = match (param.kind, value) {
            (Kind::Choice(words), Value::Choice(word)) => What::Menu {
                value: word.to_owned(),
                choices: words.iter().map(|word| ((*word).to_owned(), String::new())).collect(),
            },
            (_, Value::Flag(value)) => What::Switch { value },
            _ => slider_of(param, value),
        };
        Dial { path, label: param.name.to_owned(), help: param.help.to_owned(), parameter: true, what }
    }
}

fn slider_of(param: &'static Param, value: Value) -> What {
    let (unit, form) = match param.kind {
        Kind::Time => ("ms", Form::Linear),
        Kind::Bytes => ("B", Form::Linear),
        _ => (param.unit, Form::Bare),
    };
    let (now, default) = (number(value), number(param.default));
    let (least, most) = (number(param.min), number(param.max));
    let near = if default > 0.0 { default * AROUND } else { AROUND };
    let (min, max) = (least.min(now), most.min(near).max(now));
    let whole = matches!(param.kind, Kind::Count | Kind::Bytes);
    What::Slider { value: now, unit, min, max, form, whole }
}

/// Returns times in milliseconds, the rest as it is.
fn number(value: Value) -> f64 {
    match value {
        Value::Time(span) => span.as_secs_f64() * 1e3,
        Value::Number(number) => number,
        Value::Count(count) | Value::Bytes(count) => count as f64,
        Value::Flag(_) | Value::Choice(_) => 0.0,
    }
}
