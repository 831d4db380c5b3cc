//! Kills `send` and `receive` at random moments and looks at what is left. Every transfer must complete, and every file that
//! has its final name must be whole. Little may be received twice.
//!
//! `cargo run --release --example kills [KILLS] [SEED] [delta] [sparse] [linked]`
//!
//! Each transfer is a tree of one large file and many small ones over loopback at 20 MB/s. Again and again one of the two
//! processes, chosen at random, gets SIGKILL after a random time and is started anew. The other one is left to find its way.
//! The receiving end reports every chunk group as it comes off the wire (`--json-groups`), over all its lives. Groups that
//! came more often than once are the cost of the kills. The bound is kills × files under way × chunk group, and the small
//! files that had come at a kill and had no name yet. These go to the disk together, and a kill leaves nothing of those that
//! are not there. Bytes that were in flight at a kill never reached the receiver and are in no count.
//!
//! With `delta` the receiver begins with an older version of the large file, of which every other stretch is the same, moved
//! by an insertion. Until the new one is whole, the old one has to stay as it was. With `sparse` every third stretch of the
//! large file is a hole, and has to be one at the receiver. With `linked` the large file and every tenth small one have
//! second names. The older version has them, too, and at the end each pair has to be one file.

mod support;

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::HashMap;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
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
/// Files up to this size go to the disk together and get their names then (`wire::SMALL` of `afteryou-transfer`).
const TOGETHER_BYTES: u64 = 64 * 1024;
/// Stretches of a sparse file, every third of which is a hole.
const STRETCH: usize = 512 * 1024;
const LARGE_NAME: &str = "tree/large.bin";
const PATIENCE: Duration = Duration::from_secs(120);

/// The counts of what arrived, over all lives of the receiver.
#[derive(Default)]
struct Arrived {
    /// How often each group came: by path and offset.
    groups: HashMap<(String, u64), (u64, u64)>,
    /// Most files that had some but not all of their groups at a kill.
    most_open: usize,
    /// Bytes of the small files that had come at kills and had no name.
    nameless: u64,
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

    /// Notes what a kill may cost: files of which some groups have come and not all, and small ones that have come and have no
    /// name at the receiver.
    fn note_kill(&mut self, sizes: &HashMap<String, u64>, far: &Path) {
        let mut have: HashMap<&str, u64> = HashMap::new();
        for ((path, _), (_, bytes)) in &self.groups {
            *have.entry(path).or_default() += bytes;
        }
        let mut open = 0;
        for (path, bytes) in have {
            let Some(size) = sizes.get(path) else { continue };
            if bytes < *size {
                open += 1;
            } else if *size <= TOGETHER_BYTES && !far.join(path).exists() {
                self.nameless += size;
            }
        }
        self.most_open = self.most_open.max(open);
    }
}

/// The forms of the transfers.
#[derive(Clone, Copy, Default)]
struct Forms {
    delta: bool,
    sparse: bool,
    linked: bool,
}

impl Forms {
    fn read(words: impl Iterator<Item = String>) -> Result<Forms> {
        let mut forms = Forms::default();
        for word in words {
            match word.as_str() {
                "delta" => forms.delta = true,
                "sparse" => forms.sparse = true,
                "linked" => forms.linked = true,
                other => return Err(format!("{other:?} is no form: delta, sparse or linked").into()),
            }
        }
        Ok(forms)
    }
}

/// The sent files, by the paths at the receiver.
struct Tree {
    sizes: HashMap<String, u64>,
    /// Second names of files, and their first names.
    links: HashMap<String, String>,
}

impl Tree {
    fn bytes(&self) -> u64 {
        self.sizes.iter().filter(|(name, _)| !self.links.contains_key(*name)).map(|(_, size)| size).sum()
    }
}

fn make_tree(folder: &Path, random: &mut Pcg64, forms: Forms) -> Result<Tree> {
    let (mut sizes, mut links) = (HashMap::new(), HashMap::new());
    for directory in ["small", "zz"] {
        std::fs::create_dir_all(folder.join(directory))?;
    }
    let mut write = |name: String, bytes: usize, seed: u64| -> Result<()> {
        std::fs::write(folder.join(&name), noise(seed, bytes))?;
        sizes.insert(format!("tree/{name}"), bytes as u64);
        Ok(())
    };
    write("large.bin".to_owned(), LARGE, random.next_u64())?;
    if forms.sparse {
        make_holes(&folder.join("large.bin"))?;
    }
    for i in 0..SMALL {
        let bytes = between(random, SMALL_BYTES) as usize;
        write(format!("small/{i:04}.bin"), bytes, random.next_u64())?;
    }
    if forms.linked {
        // Before and after the first name in the order of sending.
        let mut firsts: Vec<_> = (0..SMALL).step_by(10).map(|i| format!("small/{i:04}.bin")).collect();
        firsts.push("large.bin".to_owned());
        for first in firsts {
            for second in
                [format!("again-{}", first.replace('/', "-")), format!("zz/{}", first.replace('/', "-"))]
            {
                std::fs::hard_link(folder.join(&first), folder.join(&second))?;
                let (first, second) = (format!("tree/{first}"), format!("tree/{second}"));
                sizes.insert(second.clone(), sizes[&first]);
                links.insert(second, first);
            }
        }
    }
    Ok(Tree { sizes, links })
}

/// Writes the file anew with holes in it.
fn make_holes(path: &Path) -> Result<()> {
    let content = std::fs::read(path)?;
    let mut file = std::fs::File::create(path)?;
    file.set_len(content.len() as u64)?;
    for (index, stretch) in content.chunks(STRETCH).enumerate().filter(|(index, _)| index % 3 != 1) {
        file.seek(SeekFrom::Start((index * STRETCH) as u64))?;
        file.write_all(stretch)?;
    }
    Ok(())
}

fn between(random: &mut Pcg64, range: std::ops::Range<u32>) -> u32 {
    range.start + random.next_u32() % (range.end - range.start)
}

/// Checks that every file that has its final name is the source's, byte for byte. Returns their number. How many there are.
fn check_final_names(source: &Path, far: &Path, tree: &Tree, older: Option<&[u8]>) -> Result<usize> {
    let mut whole = 0;
    for name in tree.sizes.keys() {
        let Ok(content) = std::fs::read(far.join(name)) else {
            continue;
        };
        let is_large = tree.links.get(name).unwrap_or(name) == LARGE_NAME;
        if is_large && older.is_some_and(|older| content == older) {
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

/// Checks that second names are the files of their first names, and that holes are holes.
fn check_forms(source: &Path, far: &Path, tree: &Tree, forms: Forms) -> Result<()> {
    for (second, first) in &tree.links {
        let inode = |name: &str| std::fs::metadata(far.join(name)).map(|metadata| metadata.ino());
        if inode(second)? != inode(first)? {
            return Err(format!("{second} and {first} are two files").into());
        }
    }
    let blocks = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.blocks());
    let (here, there) = (blocks(&source.join("large.bin"))?, blocks(&far.join(LARGE_NAME))?);
    // Beside a hole a file system may allocate a little more.
    if forms.sparse && there > here + here / 20 {
        return Err(format!("the large file takes {there} blocks, at the source {here}").into());
    }
    Ok(())
}

/// Returns an older version: every other stretch of 100 kB is another, and all that follows the first is moved by some
/// bytes.
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

fn transfer(folder: &Path, random: &mut Pcg64, most_kills: u64, forms: Forms) -> Result<Transfer> {
    let (source, far) = (folder.join("tree"), folder.join("far"));
    std::fs::create_dir_all(&far)?;
    let tree = make_tree(&source, random, forms)?;
    let older = match forms.delta {
        true => Some(older_version(&std::fs::read(source.join("large.bin"))?, random.next_u64())),
        false => None,
    };
    if let Some(older) = &older {
        std::fs::create_dir_all(far.join("tree/zz"))?;
        std::fs::write(far.join(LARGE_NAME), older)?;
        for (second, _) in tree.links.iter().filter(|(_, first)| *first == LARGE_NAME) {
            std::fs::hard_link(far.join(LARGE_NAME), far.join(second))?;
        }
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
            // The output before it died.
            while let Some(line) = receiver.next(Duration::from_millis(100)) {
                arrived.take(vec![line]);
            }
            check_final_names(&source, &far, &tree, older.as_deref())?;
            arrived.note_kill(&tree.sizes, &far);
            receiver = receive()?;
            receiver.ticket()?;
        } else {
            sender.kill()?;
            arrived.take(receiver.drain());
            arrived.note_kill(&tree.sizes, &far);
            sender = send()?;
        }
        next_kill = Instant::now() + Duration::from_millis(between(random, LIFE_MS).into());
    }
    while let Some(line) = receiver.next(Duration::from_millis(200)) {
        arrived.take(vec![line]);
    }
    let whole = check_final_names(&source, &far, &tree, older.as_deref())?;
    if whole != tree.sizes.len() {
        return Err(format!("{whole} of {} files arrived", tree.sizes.len()).into());
    }
    check_forms(&source, &far, &tree, forms)?;
    let partials = std::fs::read_dir(far.join(".afteryou")).map_or(0, Iterator::count);
    if partials > 0 {
        return Err(format!("{partials} partial files are left behind").into());
    }
    Ok(Transfer { kills, arrived, bytes: tree.bytes() })
}

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let wanted: u64 = words.next().as_deref().unwrap_or("200").parse()?;
    let seed: u64 = words.next().as_deref().unwrap_or("1").parse()?;
    let forms = Forms::read(words)?;
    let mut random = Pcg64::seed_from_u64(seed);
    let (mut kills, mut transfers, mut twice, mut all, mut unique) = (0, 0, 0, 0, 0);
    let (mut most_open, mut nameless) = (1, 0);
    while kills < wanted {
        let folder = tempfile::tempdir()?;
        let done = transfer(folder.path(), &mut random, wanted - kills, forms)?;
        kills += done.kills;
        transfers += 1;
        twice += done.arrived.twice();
        all += done.arrived.all();
        unique += done.bytes;
        most_open = most_open.max(done.arrived.most_open);
        nameless += done.arrived.nameless;
        eprintln!("{transfers}: {} kills, {} B twice", done.kills, done.arrived.twice());
    }
    let bound = kills * most_open as u64 * GROUP_BYTES + nameless;
    println!("{kills} kills in {transfers} transfers, all complete, every hash equal");
    println!("content {unique} B, received {all} B as far as the receivers could tell");
    println!("received twice: {twice} B; bound {kills} kills x {most_open} files under way x {GROUP_BYTES} B + {nameless} B without a name = {bound} B");
    if twice > bound {
        return Err("more was received twice than kills explain".into());
    }
    Ok(())
}
