#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afteryou_fuzz::bodies::scenario_file::run(data));
