//! `afteryou list`: what there is to choose from, made from the tables that the algorithms themselves declare.

mod json;
mod table;
pub mod wrap;

pub use table::{changes_in_words, default as default_in_words, range as range_in_words};

use afteryou_aqm::list::QUEUES;
use afteryou_base::param::{Param, Preset};
use afteryou_cc::list::Class;
use afteryou_engines::coverage;
use afteryou_notation::{catalogue, unknown};
use afteryou_scenario::TransportKind;
use afteryou_terminal::output;
use afteryou_terminal::Failure;
use clap::Args;

/// Arguments of `afteryou list`.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct ListArgs {
    /// Which list (controllers, queues or transports), or the name of one entry; without it, all names
    #[arg(value_name = "LIST|NAME", value_parser = choice)]
    pub what: Option<Choice>,

    /// Print a JSON array, described below
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  afteryou list
  afteryou list controllers
  afteryou list ledbat++
  afteryou list queues --json
  afteryou list transports

The JSON is an array of {name, class, summary, source, engines, parameters, presets}; class is \"foreground\" or \
\"background\" for controllers and null otherwise. parameters is an array of {name, kind, unit, default, min, max, choices, help, \
source}; kind is \"time\", \"number\", \"count\", \"bytes\", \"flag\" or \"choice\". default, min and max are numbers in \
the unit (times in ms, sizes in B); the default of a flag is a boolean, that of a choice a string. min and max are \
null for flags and choices, choices is null for everything but choices. presets is an array of {name, help, values}: \
what the parameter preset may be, whose values those are, and, by parameter, the defaults that it changes, written as \
those are. Only queues have presets; for everything else the array is empty. engines is an array of the \
engines that support it, by the names of their subcommands, such as \"sim\".";

/// The lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// Congestion controllers.
    Controllers,
    /// Queue disciplines.
    Queues,
    /// Protocols of simulated flows.
    Transports,
}

/// The part of the list to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A whole list.
    List(List),
    /// Whatever has this name, in any list.
    Name(&'static str),
}

/// An algorithm in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    name: &'static str,
    class: Option<Class>,
    summary: &'static str,
    source: &'static str,
    params: &'static [Param],
    presets: &'static [Preset],
    engines: Vec<&'static str>,
}

fn choice(word: &str) -> Result<Choice, afteryou_scenario::Error> {
    if let Some((_, list)) = LISTS.iter().find(|(name, _)| *name == word) {
        return Ok(Choice::List(*list));
    }
    let names: Vec<&'static str> = LISTS.iter().flat_map(|(_, list)| list.names()).collect();
    match names.iter().find(|name| **name == word) {
        Some(name) => Ok(Choice::Name(name)),
        None => {
            let lists = LISTS.iter().map(|(name, _)| *name);
            Err(unknown("list or entry", word, &lists.chain(names.iter().copied()).collect::<Vec<_>>()))
        }
    }
}

/// All lists by their names.
const LISTS: [(&str, List); 3] =
    [("controllers", List::Controllers), ("queues", List::Queues), ("transports", List::Transports)];

impl Choice {
    fn entries(self) -> Vec<Listed> {
        match self {
            Choice::List(list) => list.entries(),
            Choice::Name(name) => {
                let all = LISTS.iter().flat_map(|(_, list)| list.entries());
                all.filter(|entry| entry.name == name).collect()
            }
        }
    }
}

impl List {
    fn names(self) -> Vec<&'static str> {
        self.entries().iter().map(|entry| entry.name).collect()
    }

    /// Returns everything in it.
    pub fn entries(self) -> Vec<Listed> {
        match self {
            List::Controllers => catalogue::controllers()
                .iter()
                .map(|entry| Listed {
                    name: entry.name,
                    class: Some(entry.class),
                    summary: entry.summary,
                    source: entry.source,
                    params: entry.params,
                    presets: &[],
                    engines: coverage::of_controller(entry.name),
                })
                .collect(),
            List::Queues => QUEUES
                .iter()
                .map(|entry| Listed {
                    name: entry.name,
                    class: None,
                    summary: entry.summary,
                    source: entry.source,
                    params: entry.params,
                    presets: entry.presets,
                    engines: coverage::of_queue(entry.name),
                })
                .collect(),
            List::Transports => TransportKind::ALL
                .map(TransportKind::about)
                .into_iter()
                .map(|entry| Listed {
                    name: entry.name,
                    class: None,
                    summary: entry.summary,
                    source: entry.source,
                    params: entry.params,
                    presets: &[],
                    engines: coverage::of_transport(entry.name),
                })
                .collect(),
        }
    }
}

impl Listed {
    /// Returns its class as scenarios call it.
    fn class_name(&self) -> Option<&'static str> {
        self.class.map(|class| match class {
            Class::Foreground => "foreground",
            Class::Background => "background",
        })
    }
}

/// Prints the list.
///
/// # Errors
/// A standard output that cannot be written.
pub fn run(args: &ListArgs) -> Result<(), Failure> {
    let entries = match args.what {
        Some(choice) => choice.entries(),
        None => LISTS.iter().flat_map(|(_, list)| list.entries()).collect(),
    };
    let text = match (args.json, args.what) {
        (true, _) => json::json(&entries)?,
        (false, Some(_)) => table::text(&entries, output::width()),
        (false, None) => names(output::width()),
    };
    output::print(&text)
}

/// Returns the names in each list.
fn names(width: usize) -> String {
    let mut lines = Vec::new();
    for (title, list) in LISTS {
        lines.push(title.to_owned());
        let names = list.names().join(", ");
        lines.extend(wrap::wrap(&names, width.saturating_sub(2)).into_iter().map(|line| format!("  {line}")));
    }
    lines.push("\nOne of them with its parameters: afteryou list NAME".to_owned());
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_base::param::{Key, Value};
    use afteryou_base::Span;

    /// An example of a queue with presets, taken from the list.
    pub const WITH_PRESETS: Listed = Listed {
        name: "example",
        class: None,
        summary: "an example",
        source: "ours",
        params: &[
            Key::word("preset", &["paper", "linux"]).explained("whose values", "").row(),
            Key::millis("target", 5, (1, 1000)).explained("time that may stand", "").row(),
            Key::bytes("limit", 1000, (1, 1_000_000)).explained("most bytes", "").row(),
            Key::flag("ecn", false).explained("mark", "").row(),
        ],
        engines: Vec::new(),
        presets: &[
            Preset { name: "paper", help: "as in the paper", rows: &[] },
            Preset {
                name: "linux",
                help: "as in Linux",
                rows: &[
                    ("target", Value::Time(Span::from_millis(20))),
                    ("limit", Value::Bytes(65_536)),
                    ("ecn", Value::Flag(true)),
                ],
            },
        ],
    };
}
