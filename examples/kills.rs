//! Kills `send` and `receive` at random moments and looks at what is left: every transfer must complete, every file that
//! has its final name must be whole, and little may be received twice.
//!
//! `cargo run --release --example kills [KILLS] [SEED] [delta]`
//!
//! Each transfer is a tree of one large file and many small ones over loopback at 20 MB/s. Again and again one of the two
//! processes, chosen at random, gets SIGKILL after a random time and is started anew; the other one is left to find its way.
//! The receiving end reports every chunk group as it comes off the wire (`--json-groups`), over all its lives: what came
//! more often than once is what the kills cost. The bound is kills × files under way × chunk group; bytes that were in
//! flight at a kill never reached the receiver and are in no count.
//!
//! With `delta` the receiver begins with an older version of the large file, of which every other stretch is the same, moved by an
//! insertion. Until the new one is whole, the old one has to stay as it was.

mod support;

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};
use support::{free_address, noise, Line, Result, Running};

const LARGE: usize = 24_000_000;
const SMALL: usize = 120;
const SMALL_BYTES: std::ops::Range<u32> = 1_000..100_000;
const MAX_RATE: &str = "160 Mbit/s";
/// How long a process lives, ms.
const LIFE_MS: std::ops::Range<u32> = 30..900;
const GROUP_BYTES: u64 = 16 * 1024;
const PATIENCE: Duration = Duration::from_secs(120);

/// What arrived, over all lives of the receiver.
#[derive(Default)]
struct Arrived {
    /// How often each group came: by path and offset.
    groups: HashMap<(String, u64), (u64, u64)>,
    /// Most files that had some but not all of their groups at a kill.
    most_open: usize,
}

impl Arrived {
    fn take(&mut self, lines: Vec<Line>) {
        for line in lines.iter().filter(|line| line.is("group")) {
            let path = line.value["path"].as_str().unwrap_or_default().to_owned();
            let times = self.groups.entry((path, line.number("offset"))).or_insert((0, line.number("bytes")));
            times.0 += 1;
        }
    }

    fn twice(&self) -> u64 {
        self.groups.values().map(|(times, bytes)| (times - 1) * bytes).sum()
    }

    fn all(&self) -> u64 {
        self.groups.values().map(|(times, bytes)| times * bytes).sum()
    }

    /// Files that are under way: some of their groups have come, not all.
    fn note_open(&mut self, sizes: &HashMap<String, u64>) {
        let mut have: HashMap<&str, u64> = HashMap::new();
        for ((path, _), (_, bytes)) in &self.groups {
            *have.entry(path).or_default() += bytes;
        }
        let open = have.iter().filter(|(path, bytes)| sizes.get(**path).is_some_and(|size| **bytes < *size));
        self.most_open = self.most_open.max(open.count());
    }
}

/// The tree to send: sizes by the paths that the receiver knows.
fn make_tree(folder: &Path, random: &mut Pcg64) -> Result<HashMap<String, u64>> {
    let mut sizes = HashMap::new();
    std::fs::create_dir_all(folder.join("small"))?;
    let mut write = |name: String, bytes: usize, seed: u64| -> Result<()> {
        std::fs::write(folder.join(&name), noise(seed, bytes))?;
        sizes.insert(format!("tree/{name}"), bytes as u64);
        Ok(())
    };
    write("large.bin".to_owned(), LARGE, random.next_u64())?;
    for i in 0..SMALL {
        let bytes = between(random, SMALL_BYTES) as usize;
        write(format!("small/{i:04}.bin"), bytes, random.next_u64())?;
    }
    Ok(sizes)
}

fn between(random: &mut Pcg64, range: std::ops::Range<u32>) -> u32 {
    range.start + random.next_u32() % (range.end - range.start)
}

/// Every file that has its final name must be the source's, byte for byte. How many there are.
fn check_final_names(
    source: &Path,
    far: &Path,
    sizes: &HashMap<String, u64>,
    older: Option<&[u8]>,
) -> Result<usize> {
    let mut whole = 0;
    for name in sizes.keys() {
        let Ok(content) = std::fs::read(far.join(name)) else {
            continue;
        };
        if name == "tree/large.bin" && older.is_some_and(|older| content == older) {
            continue;
        }
        let original = std::fs::read(source.join(name.trim_start_matches("tree/")))?;
        if blake3::hash(&content) != blake3::hash(&original) {
            return Err(format!("{name} has its final name and is not whole").into());
        }
        whole += 1;
    }
    Ok(whole)
}

/// Every other stretch of 100 kB is another, and all that follows the first is moved by some bytes.
fn older_version(new: &[u8], seed: u64) -> Vec<u8> {
    let stretches = new.chunks(100_000).enumerate();
    let mut older: Vec<u8> = stretches
        .flat_map(|(index, stretch)| match index % 2 {
            0 => stretch.to_vec(),
            _ => noise(seed ^ index as u64, stretch.len()),
        })
        .collect();
    older.splice(5_000..5_000, noise(seed, 777));
    older
}

struct Transfer {
    kills: u64,
    arrived: Arrived,
    bytes: u64,
}

fn transfer(folder: &Path, random: &mut Pcg64, most_kills: u64, delta: bool) -> Result<Transfer> {
    let (source, far) = (folder.join("tree"), folder.join("far"));
    std::fs::create_dir_all(&far)?;
    let sizes = make_tree(&source, random)?;
    let older = match delta {
        true => Some(older_version(&std::fs::read(source.join("large.bin"))?, random.next_u64())),
        false => None,
    };
    if let Some(older) = &older {
        std::fs::create_dir(far.join("tree"))?;
        std::fs::write(far.join("tree/large.bin"), older)?;
    }
    let text = |path: &Path| path.to_str().map(str::to_owned).ok_or("a name that is not UTF-8");
    let (source_text, far_text) = (text(&source)?, text(&far)?);
    let listen = free_address()?.to_string();
    let receive = || {
        Running::start(
            folder,
            &["receive", &far_text, "--listen", &listen, "--address", &listen, "--json-groups"],
        )
    };
    let mut receiver = receive()?;
    let ticket = receiver.ticket()?;
    let send = || Running::start(folder, &["send", &source_text, &ticket, "--max-rate", MAX_RATE]);
    let mut sender = send()?;

    let (mut kills, mut arrived) = (0, Arrived::default());
    let deadline = Instant::now() + PATIENCE;
    let mut next_kill = Instant::now() + Duration::from_millis(between(random, LIFE_MS).into());
    loop {
        std::thread::sleep(Duration::from_millis(2));
        arrived.take(receiver.drain());
        if let Some(well) = sender.ended()? {
            if !well {
                return Err("send failed".into());
            }
            break;
        }
        if Instant::now() > deadline {
            return Err(format!("not complete after {PATIENCE:?} and {kills} kills").into());
        }
        if kills == most_kills || Instant::now() < next_kill {
            continue;
        }
        kills += 1;
        if random.next_u32().is_multiple_of(2) {
            receiver.kill()?;
            // What it said before it died.
            while let Some(line) = receiver.next(Duration::from_millis(100)) {
                arrived.take(vec![line]);
            }
            check_final_names(&source, &far, &sizes, older.as_deref())?;
            arrived.note_open(&sizes);
            receiver = receive()?;
            receiver.ticket()?;
        } else {
            sender.kill()?;
            arrived.take(receiver.drain());
            arrived.note_open(&sizes);
            sender = send()?;
        }
        next_kill = Instant::now() + Duration::from_millis(between(random, LIFE_MS).into());
    }
    while let Some(line) = receiver.next(Duration::from_millis(200)) {
        arrived.take(vec![line]);
    }
    let whole = check_final_names(&source, &far, &sizes, older.as_deref())?;
    if whole != sizes.len() {
        return Err(format!("{whole} of {} files arrived", sizes.len()).into());
    }
    let partials = std::fs::read_dir(far.join(".afteryou")).map_or(0, Iterator::count);
    if partials > 0 {
        return Err(format!("{partials} partial files are left behind").into());
    }
    Ok(Transfer { kills, arrived, bytes: sizes.values().sum() })
}

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let wanted: u64 = words.next().as_deref().unwrap_or("200").parse()?;
    let seed: u64 = words.next().as_deref().unwrap_or("1").parse()?;
    let delta = match words.next().as_deref() {
        None => false,
        Some("delta") => true,
        Some(other) => return Err(format!("{other:?} is no way to transfer: delta, or nothing").into()),
    };
    let mut random = Pcg64::seed_from_u64(seed);
    let (mut kills, mut transfers, mut twice, mut all, mut unique, mut most_open) = (0, 0, 0, 0, 0, 1);
    while kills < wanted {
        let folder = tempfile::tempdir()?;
        let done = transfer(folder.path(), &mut random, wanted - kills, delta)?;
        kills += done.kills;
        transfers += 1;
        twice += done.arrived.twice();
        all += done.arrived.all();
        unique += done.bytes;
        most_open = most_open.max(done.arrived.most_open);
        eprintln!("{transfers}: {} kills, {} B twice", done.kills, done.arrived.twice());
    }
    let bound = kills * most_open as u64 * GROUP_BYTES;
    println!("{kills} kills in {transfers} transfers, all complete, every hash equal");
    println!("content {unique} B, received {all} B as far as the receivers could tell");
    println!("received twice: {twice} B; bound {kills} kills x {most_open} files under way x {GROUP_BYTES} B = {bound} B");
    if twice > bound {
        return Err("more was received twice than kills explain".into());
    }
    Ok(())
}
