//! `afteryou compare`: two results or two sweeps, figure by figure and on one page.

use super::{failure, plot};
use afteryou_report::{read, short_names, Error, Pair, SweepPair};
use afteryou_scenario::Outcome;
use afteryou_terminal::{output, Failure};
use clap::Args;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// What `afteryou compare` can be told.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct CompareArgs {
    /// result.json of the first run, or the folder of a run or a sweep, or a table of a sweep (CSV)
    #[arg(value_name = "A")]
    pub first: PathBuf,

    /// The same of the second
    #[arg(value_name = "B")]
    pub second: PathBuf,

    /// Write a page with the figures and the curves of both
    #[arg(long, value_name = "FILE.html")]
    pub out: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  afteryou sim FILE --out packets; afteryou fluid FILE --out equations
  afteryou compare packets equations --out both.html
  afteryou compare sweep-of-ledbat sweep-of-ledbat++ --out sweeps.html

The difference is the second minus the first. Figures that one of the two lacks are a dash there. Of sweeps, points with the same \
settings are compared: the means over the repetitions, with 95 % intervals. Of many intervals, 5 % exclude zero by chance; the number is printed.";

impl CompareArgs {
    /// Prints the comparison, and draws it if a file is named.
    pub fn run(&self) -> Result<(), Failure> {
        let paths = [&self.first, &self.second];
        match paths.map(|path| is_of_a_sweep(path)) {
            [false, false] => {}
            [true, true] => {
                let pair = SweepPair::read([&self.first, &self.second]).map_err(failure)?;
                return self.show(|width, colour| pair.text(width, colour), || pair.html());
            }
            [first_is_sweep, _] => {
                let [run, sweep] = if first_is_sweep { [paths[1], paths[0]] } else { paths };
                return Err(Failure::usage(format!(
                    "{} is one run and {} is a sweep: compare two runs or two sweeps; --repeat 1 makes one run of a file without \
                     [sweep]",
                    run.display(),
                    sweep.display()
                )));
            }
        }
        let outcomes = [&self.first, &self.second].map(|path| load(path));
        let [first, second] = outcomes;
        let (first, second) = (first?, second?);
        let names = short_names([&self.first, &self.second]);
        let pair = Pair { names: [&names[0], &names[1]], outcomes: [&first, &second] };
        self.show(|width, colour| pair.text(width, colour), || pair.html())
    }

    fn show(
        &self,
        text: impl Fn(usize, bool) -> String,
        html: impl Fn() -> Result<String, Error>,
    ) -> Result<(), Failure> {
        let colour = std::io::stdout().is_terminal() && !afteryou_terminal::no_color();
        output::print(&text(output::table_width(), colour))?;
        match &self.out {
            Some(out) => plot::write(out, html()?.as_bytes()),
            None => Ok(()),
        }
    }
}

/// Does this lead to rows of many runs? A run's own folder has a result.json.
fn is_of_a_sweep(path: &Path) -> bool {
    let is_table = path.extension().is_some_and(|extension| extension == "csv");
    is_table || (path.join("runs.csv").is_file() && !path.join("result.json").is_file())
}

fn load(path: &Path) -> Result<Outcome, Failure> {
    let file = if path.is_dir() { path.join("result.json") } else { path.to_owned() };
    read(&file).map_err(failure)
}
