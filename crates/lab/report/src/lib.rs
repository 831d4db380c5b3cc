//! Draws the outcome of an experiment from any engine: a page that works offline, a figure, a text for the terminal.
//! The outcome itself is written as JSON.
//!
//! ```
//! use afteryou_report::{brief_text, svg, write_folder};
//! use afteryou_scenario::Experiment;
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let runs = Experiment::read("../../../scenarios/home-uplink.toml".as_ref(), &[])?.runs(Some(1), None)?;
//! let outcome = afteryou_fluid::run(&runs[0].scenario, &Default::default(), &mut |_| true)?;
//! print!("{}", brief_text(&outcome, 80, false));
//! let written = write_folder(&outcome, folder)?; // report.html, figure.svg, series.csv, result.json
//! assert_eq!(std::fs::read_to_string(&written.figure)?, svg(&outcome)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything is made from an [`Outcome`](afteryou_scenario::Outcome) alone, and nothing here knows any particular
//! experiment. Strings of an outcome are never trusted: a flow's name cannot become markup, script or a terminal's
//! command.
//!
//! | wanted | call |
//! |---|---|
//! | a folder with everything | [`write_folder`] |
//! | the page alone | [`html()`] |
//! | the figure alone | [`svg()`] |
//! | one quantity of several runs as a figure | [`stacked_svg`] |
//! | words for a terminal | [`text()`] |
//! | curves for other programs | [`series_csv`] |
//! | many runs in a folder, with a page and tables of all | [`Folders`] |
//! | runs as a partitioned dataset during a sweep | [`Parts`] |
//! | many runs: words, page | [`batch_text`], [`brief_batch_text`], [`index_html`] |
//! | figures for other programs | [`rows`] |
//! | every packet, for Wireshark | [`Capture`] |
//! | every sender, for qvis | [`Qlogs`] |
//! | any figure of saved rows; as PNG | [`plot`], [`png()`] |
//! | several outcomes, figure by figure and on one page | [`Comparison`] |
//! | sweeps, the means at each point and their differences | [`ComparedSweeps`] |
//! | figures of given numbers, with published points | [`given`] |
//! | a page of tables, words and figures | [`page`] |
//! | pages drawn again | [`redraw`] |
//! | an outcome from a file | [`read`] |
//!
//! Three features, all on by default, bring packages that pages, SVG and words do without. `png` has [`png()`] and [`redraw`], `parquet` has
//! Parquet, [`Folders`] and [`Parts`], and `dump` has [`Capture`] and [`Qlogs`].
//!
//! # Design
//! `plan.rs` decides what is drawn and `palette.rs` how, for page and figure alike. `palette/looks.rs` alone has the colour and the mark of each
//! controller. The page inlines [uPlot](https://github.com/leeoniya/uPlot) (MIT). Links that data cross are shown, and named where there are
//! several. `output.rs` writes what a user names: a regular file by a rename, a pipe or a device as it is. `result_folder.rs` lists and locks a
//! run's files, so that the next run removes those alone.
//!
//! This crate uses `afteryou-scenario` and `afteryou-dump` and no engine. An engine reports single packets as a
//! [`Passage`](afteryou_scenario::Passage), some before their time. `pcapng` puts them into order and writes a capture in a second
//! thread. `qlog` writes files of simulated senders and of a transfer's connections.
//!
//! # Why no crate for tables
//! `comfy-table` 8.0 was tried for [`text()`] and for `afteryou list` (one more package). Its columns must be chosen and narrowed
//! before it is called, so that names stay distinct, and that is most of the code. `list/table.rs` became 233 lines instead of 231 with all
//! tests passing, `text.rs` 224 instead of 216. In the latter the test that colour changes no word failed.

mod batch;
mod compare;
mod completions;
mod cost;
mod element_words;
mod error;
mod escape;
mod folder;
mod format;
pub mod given;
mod groups;
mod headline;
mod html;
mod links;
mod output;
pub mod page;
mod palette;
#[cfg(feature = "dump")]
mod pcapng;
mod phases;
mod plan;
pub mod plot;
#[cfg(feature = "png")]
mod png;
#[cfg(feature = "dump")]
mod qlog;
mod queues;
#[cfg(feature = "png")]
mod redraw;
mod result_folder;
pub mod rows;
mod scenario_tables;
mod series;
mod sets;
mod staged;
mod svg;
pub mod table;
mod tables;
mod text;
mod totals;

pub use batch::{index_html, Brief, Estimate, MOST_SHOWN};
#[cfg(feature = "parquet")]
pub use batch::{Finished, Folders, Parts, Record};
pub use compare::{short_names, Compared, ComparedMeans, ComparedSweeps, Comparison};
pub use error::Error;
pub use folder::{read, result_json, write_files, write_folder, Written};
pub use headline::headline;
pub use html::html;
pub use output::{write_file, Output};
#[cfg(feature = "dump")]
pub use pcapng::{Capture, UTP_PORT};
pub use plan::Plan;
#[cfg(feature = "png")]
pub use png::png;
#[cfg(feature = "dump")]
pub use qlog::{Qlogs, Vantage};
#[cfg(feature = "png")]
pub use redraw::redraw;
pub use result_folder::ResultFolder;
pub use series::series_csv;
#[cfg(feature = "parquet")]
pub use series::series_parquet;
pub use staged::check_writable;
pub use svg::{stacked_svg, svg, Scale};
pub use text::{batch_text, brief_batch_text, brief_text, table_text, text};
