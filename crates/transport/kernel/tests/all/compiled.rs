//! The rules in C as a program of this machine.

use crate::event::NUMBERS;
use crate::rules::PARAMS_MOST;
use afteryou_kernel::HEADERS;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program `tests/c/replay.c` with one version of the headers, in a folder that is removed with it.
pub struct Compiled {
    folder: PathBuf,
}

impl Drop for Compiled {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Compiled {
    /// Compiles the headers as they are, in a folder named after the test.
    ///
    /// Returns `None` and prints why if this machine has no C compiler.
    pub fn new(test: &str) -> Option<Compiled> {
        Compiled::changed(test, "", "")
    }

    /// Compiles the headers with `new` in place of `old`.
    pub fn changed(test: &str, old: &str, new: &str) -> Option<Compiled> {
        let compiler = Command::new("cc").arg("--version").output();
        if compiler.map_or(true, |output| !output.status.success()) {
            eprintln!("SKIPPED: there is no C compiler `cc`, which compiles the rules");
            return None;
        }
        let name = format!("{test}-{}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(folder.join("ebb")).unwrap();
        let compiled = Compiled { folder };
        let text: String = HEADERS.iter().map(|(_, text)| *text).collect();
        assert!(old.is_empty() || text.matches(old).count() == 1, "{old:?} is not in the headers once");
        for (name, text) in HEADERS {
            let text = if old.is_empty() { text.to_owned() } else { text.replace(old, new) };
            std::fs::write(compiled.folder.join(name), text).unwrap();
        }
        let output = Command::new("cc")
            .args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"])
            // Undefined behaviour ends the program, without a library of the compiler's.
            .args(["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"])
            .arg("-I")
            .arg(&compiled.folder)
            .arg("-o")
            .arg(compiled.folder.join("replay"))
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/replay.c"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(compiled)
    }

    /// Applies events to a rule and returns the columns after each.
    pub fn replay(&self, rule: &str, params: &[u64], events: &[[u64; NUMBERS]]) -> Vec<Vec<u64>> {
        let events_file = self.folder.join("events");
        let padding = std::iter::repeat_n(0, PARAMS_MOST - params.len());
        let numbers = params.iter().copied().chain(padding).chain(events.iter().flatten().copied());
        let bytes: Vec<u8> = numbers.flat_map(u64::to_ne_bytes).collect();
        std::fs::write(&events_file, bytes).unwrap();
        let output = Command::new(self.folder.join("replay"))
            .arg(rule)
            .stdin(File::open(&events_file).unwrap())
            .stderr(Stdio::inherit())
            .output()
            .unwrap();
        assert!(output.status.success(), "{rule}: {}", output.status);
        let numbers: Vec<u64> = output
            .stdout
            .chunks_exact(8)
            .map(|bytes| u64::from_ne_bytes(bytes.try_into().unwrap()))
            .collect();
        assert_eq!(numbers.len() % events.len(), 0);
        numbers.chunks_exact(numbers.len() / events.len()).map(<[u64]>::to_vec).collect()
    }
}
