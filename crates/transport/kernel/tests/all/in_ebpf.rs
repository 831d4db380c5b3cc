//! The rules as eBPF, run by the kernel of this machine one event a call.

use crate::clang;
use crate::event::NUMBERS;
use crate::rules::PARAMS_MOST;
use libbpf_rs::{MapCore, MapFlags, Object, ObjectBuilder, ProgramInput};
use std::ffi::OsStr;

/// The program `tests/c/replay.bpf.c` in the kernel.
pub struct InEbpf {
    object: Object,
}

impl InEbpf {
    /// Compiles and loads the program, or prints why that cannot be done.
    pub fn new() -> Option<InEbpf> {
        let file = clang::object("tests/c/replay.bpf.c")?;
        let loaded = ObjectBuilder::default().open_file(&file).and_then(|object| object.load());
        std::fs::remove_file(file).unwrap();
        match loaded {
            Ok(object) => Some(InEbpf { object }),
            Err(error) if error.kind() == libbpf_rs::ErrorKind::PermissionDenied => {
                eprintln!("SKIPPED: loading an eBPF program requires CAP_BPF and CAP_PERFMON: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Applies events to a rule and returns the columns after each.
    pub fn replay(&mut self, rule: &str, params: &[u64], events: &[[u64; NUMBERS]]) -> Vec<Vec<u64>> {
        let mut padded = params.to_vec();
        padded.resize(PARAMS_MOST, 0);
        self.call(&format!("begin_{rule}"), &padded);
        let step = format!("step_{rule}");
        events
            .iter()
            .map(|event| {
                let mut numbers = event.to_vec();
                numbers.resize(PARAMS_MOST, 0);
                self.call(&step, &numbers);
                self.columns()
            })
            .collect()
    }

    fn call(&mut self, program: &str, numbers: &[u64]) {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let name = OsStr::new(".data.numbers");
        let map = self.object.maps().find(|map| map.name() == name).expect("the map of numbers");
        map.update(&0u32.to_ne_bytes(), &bytes, MapFlags::ANY).unwrap();
        let mut programs = self.object.progs_mut();
        let program = programs.find(|found| found.name() == program).expect("the program");
        assert_eq!(program.test_run(ProgramInput::default()).unwrap().return_value, 0);
    }

    fn columns(&self) -> Vec<u64> {
        let name = OsStr::new(".data.columns");
        let map = self.object.maps().find(|map| map.name() == name).expect("the map of columns");
        let bytes = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).unwrap().expect("a value");
        let mut numbers: Vec<u64> =
            bytes.chunks_exact(8).map(|bytes| u64::from_ne_bytes(bytes.try_into().unwrap())).collect();
        let count = numbers.pop().expect("the count is last");
        numbers.truncate(count as usize);
        numbers
    }
}
