//! How fast the two disks are, without a network: `cargo run --release --example disk -- [DIR] [MB] [FILES]`.
//!
//! One large file: hash, encode, decode and write, each with its CPU time. Many small files: how many a second get
//! their final names with 1 to 64 threads.

use afteryou_transfer::entry::Wanted;
use afteryou_transfer::source::{Item, Prepared, Source, SourceOptions};
use afteryou_transfer::store::{Store, StoreOptions, Verdict};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let megabytes: usize = arguments.next().map_or(Ok(1000), |text| text.parse())?;
    let files: usize = arguments.next().map_or(Ok(10_000), |text| text.parse())?;
    let base = tempfile::tempdir_in(dir)?;
    large(base.path(), megabytes)?;
    small(base.path(), files)
}

/// Writes bytes that no file system can make smaller.
fn fill(path: &Path, bytes: u64, seed: u64) -> std::io::Result<()> {
    let mut stream = blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof();
    let mut file = std::fs::File::create(path)?;
    let mut left = bytes;
    let mut buffer = vec![0; 1 << 20];
    while left > 0 {
        let count = left.min(buffer.len() as u64) as usize;
        stream.fill(&mut buffer[..count]);
        file.write_all(&buffer[..count])?;
        left -= count as u64;
    }
    Ok(())
}

/// Returns the CPU time of this process; zero where the system reports none.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let own: u64 = text.split(' ').next().and_then(|field| field.parse().ok()).unwrap_or_default();
    Duration::from_nanos(own)
}

/// Prints how fast some work on `bytes` bytes was. CPU time is that of this thread.
fn timed<T>(what: &str, bytes: u64, work: impl FnOnce() -> T) -> T {
    let (start, cpu_start) = (Instant::now(), cpu());
    let result = work();
    let gigabytes = bytes as f64 / 1e9;
    let (wall, used) = (start.elapsed().as_secs_f64(), cpu().saturating_sub(cpu_start).as_secs_f64());
    println!("{what:28} {:6.2} GB/s {:6.2} CPU s/GB", gigabytes / wall, used / gigabytes);
    result
}

/// Bytes from one thread to the next, some at a time.
struct Pipe(std::sync::mpsc::Receiver<Vec<u8>>, Vec<u8>, usize);

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.2 == self.1.len() {
            match self.0.recv() {
                Ok(next) => (self.1, self.2) = (next, 0),
                Err(_) => return Ok(0),
            }
        }
        let count = buffer.len().min(self.1.len() - self.2);
        buffer[..count].copy_from_slice(&self.1[self.2..self.2 + count]);
        self.2 += count;
        Ok(count)
    }
}

struct Feed(std::sync::mpsc::SyncSender<Vec<u8>>);

impl Write for Feed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.send(bytes.to_vec()).map_err(|_| std::io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn files(source: &Source) -> impl Iterator<Item = Prepared> {
    source.entries().filter_map(|item| match item {
        Item::Entry(prepared) => Some(prepared),
        Item::Skipped { .. } | Item::Failed { .. } => None,
    })
}

fn large(base: &Path, megabytes: usize) -> Result<(), Box<dyn std::error::Error>> {
    let size = megabytes as u64 * 1_000_000;
    let from = base.join("large");
    fill(&from, size, 0)?;
    let source = Source::of(std::slice::from_ref(&from), SourceOptions::default())?;
    let prepared = timed("hash", size, || files(&source).next()).ok_or("no file")?;
    let whole = Wanted(vec![(0, size)]);
    timed("encode", size, || prepared.encode(&whole, std::io::sink()))?;
    let store = Store::open(&base.join("to"), StoreOptions::default())?;
    let Ok(Verdict::Want(reception)) = store.consider(prepared.entry()) else {
        return Err("not wanted".into());
    };
    let (sender, receiver) = std::sync::mpsc::sync_channel(64);
    std::thread::scope(|scope| {
        scope.spawn(|| prepared.encode(&whole, Feed(sender)).expect("encodes"));
        timed("decode and write, fsync", size, || {
            reception.receive(Pipe(receiver, Vec::new(), 0), &mut |_, _| {}).expect("stored")
        });
    });
    timed("look at what is there", size, || store.consider(prepared.entry()))
        .map_err(|why| format!("{why:?}"))?;
    std::fs::remove_file(base.join("to/large"))?;
    Ok(std::fs::remove_file(from)?)
}

fn small(base: &Path, count: usize) -> Result<(), Box<dyn std::error::Error>> {
    let from = base.join("small");
    let mut bytes = 0;
    for n in 0..count {
        let dir = from.join(format!("{}", n / 500));
        std::fs::create_dir_all(&dir)?;
        let size = 1000 + (n as u64 * 7919) % 99_000;
        fill(&dir.join(format!("{n}")), size, n as u64)?;
        bytes += size;
    }
    let source = Source::of(&[from], SourceOptions::default())?;
    let prepared: Vec<Prepared> = timed("hash small files", bytes, || files(&source).collect());
    for threads in [1, 4, 8, 16, 32, 64] {
        let to = base.join("many");
        let store = Store::open(&to, StoreOptions::default())?;
        let next = AtomicUsize::new(0);
        // One thread alone waits for each file's journal commit: a tenth shows how long.
        let part = if threads == 1 { prepared.len() / 10 } else { prepared.len() };
        let start = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| loop {
                    let Some(prepared) = prepared[..part].get(next.fetch_add(1, Ordering::Relaxed)) else {
                        return;
                    };
                    let verdict = store.consider(prepared.entry()).expect("a verdict");
                    let Verdict::Want(reception) = verdict else { continue };
                    let mut encoded = Vec::new();
                    prepared.encode(reception.wanted(), &mut encoded).expect("encodes");
                    reception.receive(&encoded[..], &mut |_, _| {}).expect("stored");
                });
            }
        });
        let rate = part as f64 / start.elapsed().as_secs_f64();
        println!("{threads:2} threads {rate:14.0} files/s");
        drop(store);
        std::fs::remove_dir_all(to)?;
    }
    Ok(())
}
