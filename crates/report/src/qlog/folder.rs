//! The files of a run: one for each sender.

use super::file::{File, Growing};
use crate::error::Error;
use crate::escape::plain;
use crate::result_folder::ResultFolder;
use crate::staged::{check_writable, unwritten};
use afteryou_dump::qlog::{About, Sender, Vantage};
use afteryou_scenario::senders::{Begun, Observer, Observers};
use afteryou_scenario::Scenario;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// End of the names of qlog files that are JSON text sequences.
const EXTENSION: &str = "sqlog";

/// The qlog files of a run that is under way, or of a program's own connections. Of a run nothing appears in the folder before all are
/// [finished](Qlogs::finish); the file of a connection appears when it ends.
#[derive(Clone, Debug)]
pub struct Qlogs(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    title: String,
    flows: Vec<Flow>,
    vantage: Vantage,
    /// Files get their names one by one.
    one_by_one: bool,
    files: Mutex<Files>,
    /// The list of a run's files. A program's connections have none: its next start adds to them.
    list: Mutex<Option<ResultFolder>>,
}

/// The parts of a flow's log.
#[derive(Debug)]
struct Flow {
    name: String,
    protocol: String,
}

#[derive(Debug, Default)]
struct Files {
    /// Names in use, in lower case: some disks make no difference.
    names: HashSet<String>,
    /// Senders of each flow so far.
    senders: HashMap<String, u64>,
    files: Vec<(PathBuf, Arc<Mutex<File>>)>,
    /// A file that could not be made.
    error: Option<Error>,
}

impl Qlogs {
    /// Makes `folder` for the files of a run of `scenario`.
    ///
    /// # Errors
    /// A folder that cannot be made or written to.
    pub fn begin(scenario: &Scenario, folder: &Path) -> Result<Qlogs, Error> {
        let flows = scenario.flow.iter().map(|flow| Flow {
            name: plain(&flow.name).into_owned(),
            protocol: flow.transport.kind().to_uppercase(),
        });
        let title = format!("{}, seed {}", plain(&scenario.name), scenario.seed);
        let (flows, files) = (flows.collect(), Mutex::default());
        let list = Mutex::new(Some(ResultFolder::of_logs(folder)?));
        let (vantage, one_by_one) = (Vantage::Client, false);
        Ok(Qlogs::new(Shared { folder: folder.to_owned(), title, flows, vantage, one_by_one, files, list }))
    }

    /// Makes `folder` for the files of a program's connections, over `protocol`, of which it is this end: `title` is the program's. All
    /// are senders of flow 0.
    ///
    /// # Errors
    /// A folder that cannot be made or written to.
    pub fn of_connections(
        title: &str,
        protocol: &str,
        vantage: Vantage,
        folder: &Path,
    ) -> Result<Qlogs, Error> {
        let flow = Flow { name: "connection".to_owned(), protocol: protocol.to_owned() };
        check_writable(folder)?;
        Ok(Qlogs::new(Shared {
            folder: folder.to_owned(),
            title: plain(title).into_owned(),
            flows: vec![flow],
            vantage,
            one_by_one: true,
            files: Mutex::default(),
            list: Mutex::default(),
        }))
    }

    fn new(shared: Shared) -> Qlogs {
        Qlogs(Arc::new(shared))
    }

    /// The observers of the run's senders.
    pub fn observers(&self) -> Observers {
        let shared = Arc::clone(&self.0);
        Observers::new(move |begun| shared.observer(begun))
    }

    /// Gives the files their names, and returns those that had none yet. Those of an earlier run that this one does not have are removed. A sender that sent nothing has no file.
    ///
    /// # Errors
    /// A file that was not written.
    pub fn finish(self) -> Result<Vec<PathBuf>, Error> {
        let Files { files, error, .. } = std::mem::take(&mut *self.0.files());
        if let Some(error) = error {
            return Err(error);
        }
        let mut list = self.0.list.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut paths = Vec::new();
        for (path, file) in files {
            if let (Some(list), Some(name)) = (&mut list, path.file_name().and_then(|name| name.to_str())) {
                list.declare(name)?;
            }
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            if file.finish(&path).map_err(|reason| unwritten(&path, reason))? {
                paths.push(path);
            }
        }
        list.map_or(Ok(()), ResultFolder::finish)?;
        Ok(paths)
    }
}

impl Shared {
    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn observer(&self, begun: Begun) -> Option<Box<dyn Observer>> {
        let Flow { name, protocol } = self.flows.get(begun.flow)?;
        let mut files = self.files();
        let path = self.folder.join(files.name(name));
        let file = match File::new(&self.folder) {
            Ok(file) => file,
            Err(reason) => {
                files.error.get_or_insert(unwritten(&path, reason));
                return None;
            }
        };
        let file = Arc::new(Mutex::new(file));
        let at_its_end = self.one_by_one.then(|| path.clone());
        files.files.push((path, Arc::clone(&file)));
        let about = About { title: &self.title, flow: name, protocol, vantage: self.vantage };
        let file = Box::new(Growing::new(file, at_its_end));
        Some(Box::new(Sender::new(file, &about, begun.zero, 0.0)))
    }
}

impl Files {
    /// A name for the file of the next sender of `flow`: the flow's, with a number from the second sender on.
    fn name(&mut self, flow: &str) -> String {
        let safe: String =
            flow.chars().map(|c| if c.is_alphanumeric() || "-_+.".contains(c) { c } else { '_' }).collect();
        let stem = safe.trim_start_matches('.');
        let stem = if stem.is_empty() { "flow" } else { stem };
        let next = self.senders.entry(stem.to_owned()).or_insert(0);
        loop {
            *next += 1;
            let name = match *next {
                1 => format!("{stem}.{EXTENSION}"),
                number => format!("{stem}-{number}.{EXTENSION}"),
            };
            if self.names.insert(name.to_lowercase()) {
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_senders_share_a_file_and_none_leaves_the_folder() {
        let mut files = Files::default();
        let flows = ["backup", "backup-2", "backup", "Backup", "../x", "a b/c", "..", ""];
        let names = flows.map(|flow| files.name(flow));
        let expected = [
            "backup.sqlog",
            "backup-2.sqlog",
            "backup-3.sqlog",
            "Backup-4.sqlog",
            "_x.sqlog",
            "a_b_c.sqlog",
            "flow.sqlog",
            "flow-2.sqlog",
        ];
        assert_eq!(names, expected);
    }
}
