//! Files that appear whole or not at all, and folders that hold the files of the latest run alone.
//!
//! ```
//! use afteryou_files::{write_file, ResultFolder};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! write_file(&folder.join("notes.txt"), b"the user's")?;
//! for name in ["first.csv", "second.csv"] {
//!     let mut results = ResultFolder::open(&folder.join("run"))?;
//!     results.write(&[(name, "1,2\n")])?;
//!     results.finish()?;
//! }
//! assert!(!folder.join("run/first.csv").exists() && folder.join("run/second.csv").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | has |
//! |---|---|
//! | `output.rs` | an output under a name that a user chose: a regular file by a rename, a pipe or a device as it is |
//! | `staged.rs` | files under temporary names |
//! | `result_folder.rs` | the list of a run's files, so that the next run removes those alone |
//! | `lock.rs` | one process at a time writes a folder |
//!
//! Each error names the file, the reason of the operating system and what to do.

mod error;
pub mod lock;
mod output;
mod result_folder;
mod staged;

pub use error::{unwritten, Error};
pub use output::{settle, write_file, Output};
pub use result_folder::ResultFolder;
pub use staged::{check_writable, temporary, TEMPORARY};
