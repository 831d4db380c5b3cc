#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afteryou_fuzz::bodies::proxy::run(data));
