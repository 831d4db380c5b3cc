//! A key of a scenario file: what it takes, what it does.

/// A key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The key's name.
    pub name: &'static str,
    /// The values that the key takes.
    pub takes: Takes,
    /// Its effect, in one sentence.
    pub help: &'static str,
}

/// The values of a key.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// Any text.
    Text,
    /// A rate: "20 Mbit/s".
    Rate,
    /// A size: "260 kB", "64 KiB".
    Size,
    /// A time: "40 ms".
    Time,
    /// A time, or a number of the flow's round-trip times: "3 rtt".
    TimeOrRounds,
    /// A moment of the run: "20 s", "last start + 10 s", "end - 30 s".
    Moment,
    /// Packets, bytes or time: "100 packets", "64 KiB", "500 ms".
    Buffer,
    /// "1 %".
    Probability,
    /// A number from the first to the second.
    Number(f64, f64),
    /// A rate, or a table of a law with these keys.
    ChangingRate(&'static [Key]),
    /// A word, or a chain with these keys.
    Markov(&'static [Key]),
    /// Names with numbers.
    Weights,
    /// Elements as a result has them.
    Elements,
    /// Pairs of a time and a rate.
    RateSteps,
    /// A time, or steps of it in a table with these keys.
    Propagation(&'static [Key]),
    /// A law of delays with these keys.
    Jitter(&'static [Key]),
    /// A table with these keys, or "none".
    OrNone(&'static [Key]),
    /// A whole number, or a time.
    CountOrTime,
    /// Pairs of a time and a delay.
    DelaySteps,
    /// A time, or two of them.
    UpTo,
    /// Two times, the second not before the first.
    Range,
    /// A list of times, with weights or without; or the name of a file.
    Samples,
    /// A probability, or a table of a law with these keys.
    Loss(&'static [Key]),
    /// A code point: "le", "default", "cs1", 46.
    Dscp,
    /// "10 packets".
    Packets,
    /// "10 packets" or `{ uniform = [from, to] }`.
    Window,
    /// A whole number.
    Count,
    /// true or false.
    Flag,
    /// One of some words.
    Word(&'static [&'static str]),
    /// A list of some words.
    Words(&'static [&'static str]),
    /// One of some words, or true or false.
    WordOrFlag(&'static [&'static str]),
    /// A controller of the list, with its parameters.
    Controller,
    /// A queue discipline of the list, with its parameters.
    Queue,
    /// A transport of the list, with its settings.
    Transport,
    /// A receiver's rule of the list, with its parameters.
    Receiver,
    /// A rule of senders' hosts of the list, with its parameters.
    Sender,
    /// "bulk", or a table that says how much.
    Traffic,
    /// A size, or a law of sizes.
    SizeLaw,
    /// A time, or a law of times.
    TimeLaw,
    /// A rate, or a law of rates.
    RateLaw,
    /// `{ poisson = "50 per s" }`, or a law of times.
    Arrivals,
    /// A number, or per cent.
    Ratio,
    /// A time, or a distribution of times.
    Distribution,
    /// A time, `{ every = … }` or `{ uniform = [from, to] }`.
    Start,
    /// Pairs of times.
    Intervals,
    /// A table with these keys.
    Table(&'static [Key]),
    /// Tables with these keys, or one of them.
    Tables(&'static [Key]),
    /// One table with the first keys, or a list of tables with the second.
    TableOrList(&'static [Key], &'static [Key]),
    /// A list of names.
    Names,
    /// A list of names, or "all".
    NamesOrAll,
    /// Values to vary.
    Sweep,
}

pub(crate) const fn key(name: &'static str, takes: Takes, help: &'static str) -> Key {
    Key { name, takes, help }
}

/// Words of the language that nothing understands yet: they are refused, not ignored.
pub(crate) const NOT_YET_KEYS: &[&str] = &["route"];

/// Tables of keys, one behind the other.
macro_rules! joined {
    ($($part:expr),+ $(,)?) => {{
        const PARTS: &[&[$crate::key::Key]] = &[$($part),+];
        const ALL: [$crate::key::Key; $crate::key::total(PARTS)] = $crate::key::join(PARTS);
        &ALL
    }};
}
pub(crate) use joined;

/// Returns the number of keys in several tables.
pub(crate) const fn total(parts: &[&[Key]]) -> usize {
    let (mut part, mut total) = (0, 0);
    while part < parts.len() {
        total += parts[part].len();
        part += 1;
    }
    total
}

/// Returns the keys of several tables, of which there are `N`.
pub(crate) const fn join<const N: usize>(parts: &[&[Key]]) -> [Key; N] {
    let mut all = [key("", Takes::Text, ""); N];
    let (mut part, mut at) = (0, 0);
    while part < parts.len() {
        let mut i = 0;
        while i < parts[part].len() {
            all[at] = parts[part][i];
            i += 1;
            at += 1;
        }
        part += 1;
    }
    all
}
