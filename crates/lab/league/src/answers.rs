//! Questions that a league answers, each a page in Markdown with its table and the command.

use crate::draw::Draw;
use crate::goal::{Goal, GOALS};
use crate::grid::{Arrival, Cell, Foreground, Trouble};
use crate::table::markdown;
use afteryou_report::table::{Cell as TableCell, Column, Table};

/// A question and how its table is made.
struct Question {
    /// The name of its file.
    name: &'static str,
    title: &'static str,
    /// Words before the table: what its numbers are.
    words: &'static str,
    /// The goal whose numbers or scores are shown.
    goal: &'static str,
    /// Numbers as they are, or scores.
    shown: Shown,
    /// The column that a cell belongs to; the columns of an earlier one come first.
    columns: &'static [fn(&Cell) -> Option<String>],
}

/// The numbers of a goal that a table shows.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    /// The mean number, of which no more than 1 counts.
    Number,
    /// The mean number and that of the worst tenth, where more is worse.
    NumberAndWorst,
}

impl Shown {
    /// Returns the part of a number that counts. A foreground that happens to have a multiple of its goodput would hide others that starve.
    fn of(self, number: f64) -> f64 {
        match self {
            Shown::Number => number.min(1.0),
            Shown::NumberAndWorst => number,
        }
    }
}

const QUESTIONS: &[Question] = &[
    Question {
        name: "call",
        title: "Which background rule disturbs a call least?",
        words: "Cells with a voice call of 64 kbit/s as the foreground: the 95th percentile of its queuing delay with the background less that without, in ms. The first column is the mean over all such cells, the second the mean of the worst tenth.",
        goal: "delay",
        shown: Shown::NumberAndWorst,
        columns: &[|cell| (cell.foreground == Foreground::Call).then(|| "call".to_owned())],
    },
    Question {
        name: "wifi",
        title: "Which background rule loses least alone on Wi-Fi?",
        words: "Share of the payload capacity while nobody else is there, after the start. Wi-Fi here is acknowledgements that come together every 2 to 8 ms and data that wait for up to 3 ms; the other columns are the other troubles of paths.",
        goal: "alone",
        shown: Shown::Number,
        columns: &[
            |cell| (cell.trouble == Trouble::Wifi).then(|| "Wi-Fi".to_owned()),
            |cell| Some(cell.trouble.name().to_owned()),
        ],
    },
    Question {
        name: "fair-queues",
        title: "Does anything yield behind FQ-CoDel and CAKE?",
        words: "Goodput of transfers of the foreground with the background over that without, by queue; more than all counts as 1. Every background packet carries the lower-effort mark, which cake, dualpi2 and the queues whose names begin with le_ look at.",
        goal: "kept",
        shown: Shown::Number,
        columns: &[
            |cell| ["fq_codel", "cake"].contains(&cell.queue).then(|| cell.queue.to_owned()),
            |cell| Some(if cell.queue.starts_with("le_") { "le_*" } else { cell.queue }.to_owned()),
        ],
    },
    Question {
        name: "jobs",
        title: "What do several flows of a job take?",
        words: "Goodput of transfers of the foreground with the background over that without, by the number of background flows; more than all counts as 1. They are separate connections, each with a controller of its own.",
        goal: "kept",
        shown: Shown::Number,
        columns: &[|cell| (cell.arrival != Arrival::Late).then(|| flows(cell.flows))],
    },
    Question {
        name: "bbr",
        title: "What if the foreground is BBR?",
        words: "Goodput of transfers of the foreground with the background over that without, by the foreground's controller; more than all counts as 1.",
        goal: "kept",
        shown: Shown::Number,
        columns: &[|cell| match cell.foreground {
            Foreground::Bulk(name) => Some(name.to_owned()),
            _ => None,
        }],
    },
];

fn flows(number: u32) -> String {
    if number == 1 {
        "1 flow".to_owned()
    } else {
        format!("{number} flows")
    }
}

/// Returns the name and the text of each page.
pub fn pages(draw: &Draw<'_>, command: &str) -> Vec<(String, String)> {
    let page = |question: &Question| (question.name.to_owned(), question.page(draw, command));
    QUESTIONS.iter().map(page).collect()
}

impl Question {
    fn page(&self, draw: &Draw<'_>, command: &str) -> String {
        let table = self.table(draw);
        format!(
            "# {}\n\n{}\n\n{}\n{}, {} cells. The table is made by\n\n```sh\n{command} --out DIR\n```\n",
            self.title,
            self.words,
            markdown(&table),
            capital(&draw.name),
            draw.season.cells.len(),
        )
    }

    fn table(&self, draw: &Draw<'_>) -> Table {
        let season = draw.season;
        let place = GOALS.iter().position(|goal| goal.name == self.goal).unwrap_or_default();
        let groups = self.groups(&season.cells, &GOALS[place]);
        let mut columns = vec![Column::setting("controller")];
        for (name, cells) in &groups {
            columns.push(Column { number: true, ..Column::setting(&format!("{name} ({})", cells.len())) });
            if self.shown == Shown::NumberAndWorst {
                columns.push(Column::numbers("worst tenth"));
            }
        }
        let mut rows: Vec<(f64, Vec<TableCell>)> = (0..season.entrants.len())
            .map(|entrant| {
                let mut cells = vec![TableCell::new(&season.entrants[entrant].name)];
                let mut first = None;
                for (_, group) in &groups {
                    let number = |cell: &usize| draw.scores.numbers[entrant][place][*cell];
                    let mut numbers: Vec<f64> =
                        group.iter().filter_map(number).map(|number| self.shown.of(number)).collect();
                    numbers.sort_by(f64::total_cmp);
                    let mean = mean(&numbers);
                    first = first.or(mean);
                    cells.push(TableCell::maybe(mean, |mean| self.format(mean)));
                    if self.shown == Shown::NumberAndWorst {
                        let worst = &numbers[numbers.len() - numbers.len().div_ceil(10)..];
                        cells.push(TableCell::maybe(self::mean(worst), |mean| self.format(mean)));
                    }
                }
                (first.unwrap_or(f64::NAN), cells)
            })
            .collect();
        // The best first: of delays the shortest, of shares the largest.
        rows.sort_by(|a, b| match self.shown {
            Shown::NumberAndWorst => a.0.total_cmp(&b.0),
            Shown::Number => b.0.total_cmp(&a.0),
        });
        let rows = rows.into_iter().map(|(_, cells)| cells).collect();
        Table { title: self.title.to_owned(), note: "", grouped: 0, columns, rows }
    }

    /// Returns the names of the columns with the cells of each that the goal is asked of, in the order in which they come.
    fn groups(&self, cells: &[Cell], goal: &Goal) -> Vec<(String, Vec<usize>)> {
        let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
        for key in self.columns {
            let mut names: Vec<String> = Vec::new();
            let asked = || cells.iter().enumerate().filter(|(_, cell)| goal.is_asked(cell));
            for (_, cell) in asked() {
                let name = key(cell)
                    .filter(|name| !names.contains(name) && groups.iter().all(|(known, _)| known != name));
                names.extend(name);
            }
            names.sort_by_key(|name| (first_number(name), name.clone()));
            for name in names {
                let of_it = asked()
                    .filter(|(_, cell)| key(cell).as_ref() == Some(&name))
                    .map(|(index, _)| index)
                    .collect();
                groups.push((name, of_it));
            }
        }
        groups
    }

    fn format(&self, number: f64) -> String {
        match self.shown {
            Shown::Number => format!("{number:.2}"),
            Shown::NumberAndWorst => format!("{number:.1}"),
        }
    }
}

/// Returns the number at the beginning of a name, so that 10 flows come after 2.
fn first_number(name: &str) -> u32 {
    name.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or_default()
}

fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
