//! The league: a public judge of background controllers.
//!
//! ```
//! use afteryou_engines::{find, Cache};
//! use afteryou_league::{directly, draw, entrants, play, Scores, Set, Setting, GOALS, PATIENCE, QUICK};
//! # use afteryou_scenario::content::ContentHash;
//! use std::sync::atomic::AtomicBool;
//!
//! let cells = draw(QUICK, Set::Train, 1).into_iter().step_by(40).collect();
//! let stop = AtomicBool::new(false);
//! let setting = Setting {
//!     engine: find("sim")?,
//!     threads: 2,
//!     # build: ContentHash::of_text(""), /*
//!     build: …,
//!     # */
//!     patience: PATIENCE,
//!     around: directly,
//!     failure: || None,
//!     stop: &stop,
//! };
//! let both = entrants(&["ledbat++".to_owned(), "ledbat".to_owned()])?;
//! let season = play(cells, both, &setting, &mut Cache::in_memory(), &mut |_| ())?;
//! for standing in Scores::of(&season, &[1.0; GOALS.len()]).standings {
//!     println!("{} {:.3}", season.entrants[standing.entrant].name, standing.total.mean);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `grid` | cells: networks, foregrounds and backgrounds, drawn by strata |
//! | `seed` | seeds of the grid that follow from a commit |
//! | `draw` | a draw of the grid with its runs and scores |
//! | `entrant` | those who take part |
//! | `plan` | every run, and what has come of it |
//! | `play`, `workers` | making runs, on threads that survive a rule that does not |
//! | `figures` | the few numbers that are kept of a run |
//! | `goal` | what is asked of a cell, with bounds and reasons |
//! | `score` | scores with their errors |
//! | `slice` | means over cells of one kind, with bounds: where a rule is weak |
//! | `answers` | questions that a league answers, as pages |
//! | `order` | the order as a table and a picture; orders that are recorded |
//! | `table`, `rows`, `page` | the league in tables, files and on a page |
//!
//! # Design
//! A cell is the text of a scenario file, so that everybody can run it again by the command that the page names. The key of a run is made of
//! this text, the engine and the program. The baseline of a cell has the seed and the starts of the cell's runs, and all entrants share it.
//! Entrants meet the same networks, foregrounds and random numbers.
//!
//! Traps that the grid avoids: a rule that never sends would win `kept`, so `harvest` and `alone` count as much. A mean hides that some
//! starve, so the worst tenth counts as much as the mean. Packets of equal flows fall into step with a DropTail queue, so all data wait
//! for up to two times of a packet and all starts are drawn. ECN is on for all flows and the queue of a cell, or for none.

mod answers;
mod draw;
mod entrant;
mod error;
mod figures;
mod goal;
mod grid;
mod order;
pub mod page;
mod plan;
mod play;
pub mod rows;
mod score;
mod seed;
mod slice;
pub mod table;
mod workers;

pub use self::draw::Draw;
pub use entrant::{entrants, Entrant};
pub use error::{Error, Result};
pub use figures::{Figures, Phase, PhaseFigures, Transfers};
pub use goal::{Bound, Goal, Over, GOALS};
pub use grid::{
    draw, probing, Arrival, Cell, Foreground, Phases, Set, Stratum, Transport, Trouble, LATE, QUICK, WHOLE,
};
pub use order::{Line, Order, Recorded};
pub use plan::{Kept, Outcome, Plan, Played, Season};
pub use play::{directly, play, Around, Progress, Setting, PATIENCE};
pub use score::{Estimate, Scores, Standing, ALIKE};
pub use seed::seed_of_commit;
pub use slice::{Part, Slice, Slices, SLICES};
