//! The files of a run: one for each sender.

use super::file::{File, Growing, Waits};
use super::records::{About, Vantage};
use super::sender::Sender;
use afteryou_base::lock::EvenPoisoned;
use afteryou_base::shown::Shown;
use afteryou_cc::{NewSender, Observer, Observers};
use afteryou_files::{check_writable, unwritten, Error, ResultFolder};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

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
    flows: Vec<LoggedFlow>,
    vantage: Vantage,
    /// Files get their names one by one.
    one_by_one: bool,
    files: Mutex<Files>,
    /// The list of a run's files. A program's connections have none: its next start adds to them.
    list: Mutex<Option<ResultFolder>>,
}

/// The flow of some senders, as their logs name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedFlow {
    /// Its name, of which the files' names are made.
    pub name: String,
    /// The protocol of its connections: "TCP", "UTP", "QUIC".
    pub protocol: String,
}

#[derive(Debug, Default)]
struct Files {
    /// Names in use, in lower case: some disks make no difference.
    names: HashSet<String>,
    /// Senders of each flow so far.
    senders: HashMap<String, u64>,
    files: Vec<Arc<Mutex<File>>>,
    /// A file that could not be made.
    error: Option<Error>,
}

impl Qlogs {
    /// Makes `folder` for the files of a run with these flows. Files of an earlier run that this one does not have are removed at its end.
    ///
    /// # Errors
    /// A folder that cannot be made or written to, or that another run is writing to.
    pub fn of_run(title: &str, flows: Vec<LoggedFlow>, folder: &Path) -> Result<Qlogs, Error> {
        let list = Some(ResultFolder::of_logs(folder)?);
        Ok(Qlogs::new(folder, title, flows, Vantage::Client, list))
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
        let flow = LoggedFlow { name: "connection".to_owned(), protocol: protocol.to_owned() };
        check_writable(folder)?;
        Ok(Qlogs::new(folder, title, vec![flow], vantage, None))
    }

    /// Returns the logs. Without a list of a run's files, each gets its name by itself.
    fn new(
        folder: &Path,
        title: &str,
        flows: Vec<LoggedFlow>,
        vantage: Vantage,
        list: Option<ResultFolder>,
    ) -> Qlogs {
        let plain = |text: &str| Shown(text).to_string();
        let flows = flows.into_iter().map(|flow| LoggedFlow { name: plain(&flow.name), ..flow });
        Qlogs(Arc::new(Shared {
            folder: folder.to_owned(),
            title: plain(title),
            flows: flows.collect(),
            vantage,
            one_by_one: list.is_none(),
            files: Mutex::default(),
            list: Mutex::new(list),
        }))
    }

    /// Returns the observers of the run's senders.
    pub fn observers(&self) -> Observers {
        let shared = Arc::clone(&self.0);
        Observers::new(move |sender| shared.observer(sender, None))
    }

    /// Returns the observer of a sender that has a file only once `is_worth_it`. Until then at most 64 KiB of records are kept, in memory.
    pub fn observer_once(
        &self,
        sender: NewSender,
        is_worth_it: impl Fn() -> bool + Send + 'static,
    ) -> Option<Box<dyn Observer>> {
        let (shared, flow) = (Arc::downgrade(&self.0), sender.flow);
        let name = move || shared.upgrade().and_then(|shared| shared.path(flow)).unwrap_or_default();
        let waits = Waits { until: Box::new(is_worth_it), name: Box::new(name) };
        self.0.observer(sender, Some(waits))
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
        let mut list = self.0.list.lock().even_poisoned().take();
        let mut paths = Vec::new();
        for file in files {
            let mut file = file.lock().even_poisoned();
            if let (Some(list), Some(name)) =
                (&mut list, file.path().file_name().and_then(|name| name.to_str()))
            {
                list.declare(name)?;
            }
            let finished = file.finish();
            if finished.map_err(|reason| unwritten(file.path(), reason))? {
                paths.push(file.path().to_owned());
            }
        }
        list.map_or(Ok(()), ResultFolder::finish)?;
        Ok(paths)
    }
}

impl Shared {
    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().even_poisoned()
    }

    /// Returns the path of the next file of a flow.
    fn path(&self, flow: usize) -> Option<PathBuf> {
        Some(self.folder.join(self.files().name(&self.flows.get(flow)?.name)))
    }

    fn observer(&self, sender: NewSender, waits: Option<Waits>) -> Option<Box<dyn Observer>> {
        let LoggedFlow { name, protocol } = self.flows.get(sender.flow)?;
        let file = match waits {
            Some(waits) => File::later(waits),
            None => {
                let path = self.path(sender.flow)?;
                match File::new(path.clone()) {
                    Ok(file) => file,
                    Err(reason) => {
                        self.files().error.get_or_insert(unwritten(&path, reason));
                        return None;
                    }
                }
            }
        };
        let file = Arc::new(Mutex::new(file));
        self.files().add(Arc::clone(&file), self.one_by_one);
        let about = About { title: &self.title, flow: name, protocol, vantage: self.vantage };
        let file = Box::new(Growing::new(file, self.one_by_one));
        Some(Box::new(Sender::new(file, &about, sender.zero, 0.0)))
    }
}

impl Files {
    /// Adds a file, and forgets those that have their names already.
    fn add(&mut self, file: Arc<Mutex<File>>, one_by_one: bool) {
        if one_by_one {
            let is_open = |file: &Arc<Mutex<File>>| Arc::strong_count(file) > 1;
            // Nobody else holds one that is not open.
            let is_broken = |file: &Arc<Mutex<File>>| file.try_lock().is_ok_and(|file| file.is_broken());
            self.files.retain(|file| is_open(file) || is_broken(file));
        }
        self.files.push(file);
    }

    /// Returns a name for the file of the next sender of `flow`: the flow's, with a number from the second sender on.
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
    fn a_peer_that_is_not_admitted_leaves_no_file_and_little_memory() {
        use afteryou_cc::Time;
        use std::sync::atomic::{AtomicBool, Ordering};
        let folder = tempfile::tempdir().unwrap();
        let logs = Qlogs::of_connections("test", "QUIC", Vantage::Server, folder.path()).unwrap();
        let names = || {
            let mut names: Vec<_> = std::fs::read_dir(folder.path())
                .unwrap()
                .map(|file| file.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        let sender = NewSender { flow: 0, zero: Time::ZERO };
        for stranger in 0..100 {
            let observer = logs.observer_once(sender, || false).unwrap();
            assert_eq!(names(), Vec::<String>::new(), "of stranger {stranger}");
            drop(observer);
        }
        assert!(logs.0.files().files.len() <= 2, "they are forgotten");
        let is_admitted = Arc::new(AtomicBool::new(false));
        let (asked, path) = (is_admitted.clone(), folder.path().join("one.sqlog"));
        let file = File::later(Waits {
            until: Box::new(move || asked.load(Ordering::Relaxed)),
            name: Box::new(move || path.clone()),
        });
        let file = Arc::new(Mutex::new(file));
        let record = [b'x'; 1000];
        (0..1000).for_each(|_| file.lock().unwrap().write(&record));
        is_admitted.store(true, Ordering::Relaxed);
        file.lock().unwrap().write(b"last");
        drop(Growing::new(file, true));
        assert_eq!(names(), ["one.sqlog"]);
        let written = std::fs::metadata(folder.path().join("one.sqlog")).unwrap().len();
        assert_eq!(written, 65 * 1000 + 4, "the first 64 KiB, and what came after the admission");
    }

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
