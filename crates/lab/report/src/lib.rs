//! Draws the outcome of an experiment from any engine: a page that works offline, a figure, a text for the terminal.
//! The outcome itself is written as JSON.
//!
//! ```
//! use afteryou_report::{brief_text, write_folder};
//! use afteryou_scenario_file::Experiment;
//! use std::ops::ControlFlow;
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let runs = Experiment::read("../../../scenarios/home-uplink.toml".as_ref(), &[])?.runs(Some(1), None)?;
//! let go_on = &mut |_| ControlFlow::Continue(());
//! let outcome = afteryou_fluid::run(&runs[0].scenario, &Default::default(), go_on)?;
//! print!("{}", brief_text(&outcome, 80, false));
//! let written = write_folder(&outcome, folder)?; // report.html, figure.svg, series.csv, result.json
//! assert_eq!(std::fs::read_to_string(&written.figure)?, afteryou_plot::svg(&outcome)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything is made from an [`Outcome`](afteryou_scenario::Outcome) alone, and nothing here depends on any particular
//! experiment. Strings of an outcome are never trusted: a flow's name cannot become markup, script or a terminal's command.
//!
//! | wanted | call |
//! |---|---|
//! | a folder with everything | [`write_folder`] |
//! | the page alone | [`html()`] |
//! | words for a terminal | [`text()`] |
//! | curves for other programs | [`series_csv`] |
//! | many runs in a folder, with a page and tables of all | [`Folders`] |
//! | runs as a partitioned dataset during a sweep | [`Parts`] |
//! | many runs: words, page | [`batch_text`], [`brief_batch_text`], [`index_html`] |
//! | figures for other programs | [`rows`] |
//! | every packet, for Wireshark | [`Capture`] |
//! | every sender, for qvis | [`qlogs`] |
//! | several outcomes, figure by figure and on one page | [`Comparison`] |
//! | sweeps, the means at each point and their differences | [`ComparedSweeps`] |
//! | a page of tables, words and figures | [`page`] |
//! | pages drawn again | [`redraw`] |
//!
//! Three features, all on by default, bring packages that pages and words do without. `png` has [`redraw`], `parquet` has
//! Parquet, [`Folders`] and [`Parts`], and `trace` has [`Capture`] and [`qlogs`].
//!
//! # Design
//! The figures, their plan, colours and names are those of `afteryou-plot`, for page, text and figure alike. The page inlines
//! [uPlot](https://github.com/leeoniya/uPlot) (MIT). Links that data cross are shown, and named where there are several. Files are written
//! with `afteryou-files`.
//!
//! This crate uses no engine. An engine reports single packets as a [`Passage`](afteryou_scenario::Passage), some before their time.
//! `pcapng` puts them into order and writes a capture in a second thread.
//!
//! Pages are written with `maud`, which escapes every value by its type. `document` has what all pages share. It also escapes the
//! characters that hide or change the direction of text, in everything but scripts.
//!
//! # Why no crate for tables
//! `comfy-table` 8.0 was tried for [`text()`] and for `afteryou list` (one more package). Its columns must be chosen and narrowed
//! before it is called, so that names stay distinct, and that is most of the code. `list/table.rs` became 233 lines instead of 231 with all
//! tests passing, `text.rs` 224 instead of 216. In the latter the test that colour changes no word failed.

mod batch;
mod compare;
mod completions;
mod cost;
mod document;
mod error;
mod folder;
mod groups;
mod headline;
mod html;
mod links;
pub mod page;
#[cfg(feature = "trace")]
mod pcapng;
#[cfg(feature = "trace")]
mod qlog;
mod queues;
#[cfg(feature = "png")]
mod redraw;
pub mod rows;
mod scenario_tables;
mod script_words;
mod series;
mod sets;
pub mod table;
mod tables;
mod text;
mod totals;

pub use batch::{index_html, Brief, MOST_SHOWN};
#[cfg(feature = "parquet")]
pub use batch::{FinishedSweep, Folders, Parts, Record};
pub use compare::{short_names, Compared, ComparedMeans, ComparedSweeps, Comparison};
pub use error::Error;
pub use folder::{result_json, write_folder, write_outcome, Written};
pub use headline::headline;
pub use html::html;
#[cfg(feature = "trace")]
pub use pcapng::{Capture, UTP_PORT};
#[cfg(feature = "trace")]
pub use qlog::qlogs;
#[cfg(feature = "png")]
pub use redraw::redraw;
pub use series::series_csv;
#[cfg(feature = "parquet")]
pub use series::{series_parquet, write_series};
pub use text::{batch_text, brief_batch_text, brief_text, table_text, text};
