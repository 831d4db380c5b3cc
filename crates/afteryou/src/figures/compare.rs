//! `afteryou compare`: results or sweeps, figure by figure and on one page.

use super::{failure, plot};
use afteryou_notation::unknown;
use afteryou_plot::read;
use afteryou_report::{short_names, ComparedSweeps, Comparison, Error};
use afteryou_scenario::Outcome;
use afteryou_terminal::{output, Failure};
use clap::Args;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Most results on a page: more panels are too low to read.
const MOST: usize = 6;

/// Arguments of `afteryou compare`.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct CompareArgs {
    /// Compare these: result.json of each run, or its folder; or the folders of sweeps, or tables of theirs (CSV)
    #[arg(value_name = "RESULT", required = true, num_args = 2..)]
    pub results: Vec<PathBuf>,

    /// Compare only this figure, such as goodput_bit_s. May be given several times; all figures by default
    #[arg(long, value_name = "NAME")]
    pub figure: Vec<String>,

    /// Write a page with the figures and the curves of all
    #[arg(long, value_name = "FILE.html")]
    pub out: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  afteryou sim FILE --out packets; afteryou fluid FILE --out equations
  afteryou compare packets equations --out both.html
  afteryou compare equations packets real --figure goodput_bit_s --out all.html
  afteryou compare sweep-of-ledbat sweep-of-ledbat++ --out sweeps.html
  afteryou compare ten-simulated ten-real --figure kept

Of two results, the difference is the second minus the first; of more, the spread is the largest minus the smallest. Figures that a \
result lacks are a dash there. Of sweeps, points with the same settings are compared: the means over the repetitions, with 95 % \
intervals, and the differences from the first. Of many intervals, 5 % exclude zero by chance; the number is printed.";

impl CompareArgs {
    /// Prints the comparison, and draws it if a file is named.
    ///
    /// # Errors
    /// Results that cannot be read, a run beside a sweep, and too many of either. A figure that they do not have, and a page that cannot be
    /// written.
    pub fn run(&self) -> Result<(), Failure> {
        let paths: Vec<&Path> = self.results.iter().map(PathBuf::as_path).collect();
        let sweeps: Vec<&Path> = paths.iter().copied().filter(|path| is_of_a_sweep(path)).collect();
        match &sweeps[..] {
            [] => self.compare_runs(&paths),
            _ if paths.len() > MOST && sweeps.len() == paths.len() => {
                Err(Failure::usage(format!("{} sweeps are too many: compare up to {MOST}", sweeps.len())))
            }
            _ if sweeps.len() == paths.len() => {
                let sweeps = ComparedSweeps::read(&paths).map_err(failure)?;
                let sweeps =
                    sweeps.choose(self.figure.clone()).map_err(|(name, known)| no_figure(&name, &known))?;
                self.show(|width, colour| sweeps.text(width, colour), || sweeps.html())
            }
            [sweep, ..] => {
                let run = paths.iter().find(|path| !is_of_a_sweep(path)).unwrap_or(sweep);
                Err(Failure::usage(format!(
                    "{} is one run and {} is a sweep: compare runs or sweeps; --repeat 1 makes one run of a file without \
                     [sweep]",
                    run.display(),
                    sweep.display()
                )))
            }
        }
    }

    fn compare_runs(&self, paths: &[&Path]) -> Result<(), Failure> {
        if paths.len() > MOST {
            return Err(Failure::usage(format!(
                "{} results are too many: compare up to {MOST}",
                paths.len()
            )));
        }
        let outcomes = paths.iter().map(|path| load(path)).collect::<Result<Vec<Outcome>, Failure>>()?;
        let names = short_names(paths);
        let comparison = Comparison {
            names: names.iter().map(String::as_str).collect(),
            outcomes: outcomes.iter().collect(),
            chosen: self.figure.clone(),
        };
        let known = comparison.names_of_figures();
        if let Some(name) = self.figure.iter().find(|name| !known.contains(name)) {
            return Err(no_figure(name, &known));
        }
        self.show(|width, colour| comparison.text(width, colour), || comparison.html())
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

fn no_figure(name: &str, known: &[String]) -> Failure {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    Failure::usage(unknown("figure", name, &known).to_string())
}

/// Returns whether this leads to rows of many runs. A run's own folder has a result.json.
fn is_of_a_sweep(path: &Path) -> bool {
    let is_table = path.extension().is_some_and(|extension| extension == "csv");
    is_table || (path.join("runs.csv").is_file() && !path.join("result.json").is_file())
}

fn load(path: &Path) -> Result<Outcome, Failure> {
    let file = if path.is_dir() { path.join("result.json") } else { path.to_owned() };
    read(&file).map_err(failure)
}
