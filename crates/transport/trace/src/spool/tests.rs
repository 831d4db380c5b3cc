use super::*;
use std::sync::mpsc;

/// A disk that stalls until it is released.
struct Stuck(mpsc::Receiver<()>);

impl Write for Stuck {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        _ = self.0.recv();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Memory that the test reads.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<Vec<u8>>>);

impl Write for Shelf {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn records_of_several_files_are_written_in_their_order() {
    let (spool, shelves) = (Spool::new(u64::MAX), [Shelf::default(), Shelf::default()]);
    let files = shelves.clone().map(|shelf| spool.file(shelf));
    for round in 0..1000_u32 {
        files[round as usize % 2].write(&round.to_be_bytes());
    }
    drop(files);
    spool.flush().unwrap();
    for (first, shelf) in shelves.iter().enumerate() {
        let expected: Vec<u8> = (first as u32..1000).step_by(2).flat_map(u32::to_be_bytes).collect();
        assert_eq!(*shelf.0.lock().unwrap(), expected);
    }
    assert_eq!(spool.totals(), Totals { bytes: 4000, skipped: 0, error: None });
    assert!(spool.0 .0.state().files.is_empty(), "files that have ended are forgotten");
}

#[test]
fn what_is_left_is_written_after_the_last_handle_has_gone() {
    let (spool, shelf) = (Spool::new(u64::MAX), Shelf::default());
    let file = spool.file(shelf.clone());
    file.write(b"last words");
    drop((file, spool));
    while shelf.0.lock().unwrap().is_empty() {
        std::thread::yield_now();
    }
    assert_eq!(*shelf.0.lock().unwrap(), b"last words");
}

#[test]
fn a_disk_that_stands_still_holds_nobody_up_and_memory_is_bounded() {
    let (release, stuck) = mpsc::channel();
    let spool = Spool::new(u64::MAX);
    let file = spool.file(Stuck(stuck));
    let record = vec![0; 1 << 20];
    for _ in 0..100 {
        file.write(&record);
    }
    let Totals { bytes, skipped, error } = spool.totals();
    assert_eq!((bytes, skipped, error), (BACKLOG as u64, 84, None));
    drop(release);
    spool.flush().unwrap();
}

#[test]
fn beyond_the_limit_nothing_is_written_any_more() {
    let (spool, shelf) = (Spool::new(10), Shelf::default());
    let file = spool.file(shelf.clone());
    [&b"12345678"[..], b"123", b"1"].iter().for_each(|record| file.write(record));
    spool.flush().unwrap();
    assert_eq!(*shelf.0.lock().unwrap(), b"12345678");
    assert_eq!(spool.totals(), Totals { bytes: 8, skipped: 2, error: None });
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_once_and_other_files_go_on() {
    let (spool, shelf) = (Spool::new(u64::MAX), Shelf::default());
    let full = spool.file(std::fs::File::options().write(true).open("/dev/full").unwrap());
    let good = spool.file(shelf.clone());
    full.write(b"lost");
    assert_eq!(spool.flush().unwrap_err().kind(), io::ErrorKind::StorageFull);
    full.write(b"skipped");
    good.write(b"kept");
    spool.flush().unwrap();
    assert_eq!(*shelf.0.lock().unwrap(), b"kept");
    assert_eq!(spool.totals().error, Some(io::ErrorKind::StorageFull));
    assert_eq!(spool.totals().skipped, 1);
}
