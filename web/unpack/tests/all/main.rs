//! What was packed is unpacked, and damage is an error.

use afteryou_unpack::unpack;
use lzma_rust2::{LzmaOptions, LzmaWriter};
use std::io::Write;

fn packed(content: &[u8]) -> Vec<u8> {
    let options = LzmaOptions::with_preset(6);
    let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, Some(content.len() as u64)).unwrap();
    writer.write_all(content).unwrap();
    writer.finish().unwrap()
}

#[test]
fn what_was_packed_is_unpacked() {
    let content: Vec<u8> = (0..100_000_u32).flat_map(|n| (n.wrapping_mul(n) / 7).to_le_bytes()).collect();
    for content in [&content[..], b"", b"a"] {
        assert_eq!(unpack(&packed(content)).unwrap(), content);
    }
}

#[test]
fn bytes_that_xz_wrote_are_unpacked() {
    // `printf 'after you, please' | xz --format=lzma`
    let by_xz = [
        0x5d, 0x00, 0x00, 0x80, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00, 0x30, 0x99, 0x8a,
        0xee, 0xea, 0x52, 0x03, 0xc5, 0x22, 0x46, 0x87, 0x8a, 0xec, 0xeb, 0x10, 0x37, 0x10, 0x15, 0x19, 0xf8,
        0xd8, 0x8f, 0xff, 0xe8, 0x56, 0x00, 0x00,
    ];
    assert_eq!(unpack(&by_xz).unwrap(), b"after you, please");
}

#[test]
fn damaged_bytes_are_an_error_and_no_panic() {
    let content = vec![7; 5000];
    let whole = packed(&content);
    for end in 0..whole.len() {
        assert!(unpack(&whole[..end]).map_or(true, |got| got != content), "cut at {end}");
    }
    for place in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x55;
        let _ = unpack(&damaged);
    }
}
