//! The scenarios.

/// A scenario of one link and one or two flows.
#[derive(Clone, Copy)]
pub struct Row {
    /// The flows' names.
    pub flows: &'static [&'static str],
    pub mbit: u32,
    /// The queue's limit.
    pub buffer: &'static str,
    pub queue: &'static str,
    pub rtt_ms: u32,
    /// Why it is out of bounds, if it is known to be.
    pub known: Option<&'static str>,
}

const fn row(
    flows: &'static [&'static str],
    mbit: u32,
    buffer: &'static str,
    queue: &'static str,
    rtt_ms: u32,
) -> Row {
    Row { flows, mbit, buffer, queue, rtt_ms, known: None }
}

const BUFFER: &str = "1000 packets";

/// All of them.
pub const ROWS: &[Row] = &[
    row(&["cubic"], 10, "200 ms", "droptail", 60),
    row(&["cubic"], 10, BUFFER, "fq_codel,preset=linux", 60),
    row(&["cubic"], 10, BUFFER, "codel", 60),
    row(&["cubic"], 10, BUFFER, "pie,preset=linux", 60),
    row(&["reno"], 10, "100 ms", "droptail", 40),
    row(&["ledbat++"], 20, "500 ms", "droptail", 20),
    row(&["ledbat++"], 20, "500 ms", "droptail", 100),
    row(&["libutp"], 4, "200 ms", "droptail", 40),
    row(&["ledbat"], 10, "200 ms", "droptail", 50),
    row(&["cubic", "reno"], 10, "200 ms", "droptail", 60),
    row(&["cubic", "reno"], 10, BUFFER, "fq_codel,preset=linux", 60),
    row(&["cubic", "reno"], 10, BUFFER, "codel", 60),
    row(&["cubic", "reno"], 10, BUFFER, "pie,preset=linux", 60),
    row(&["cubic", "reno"], 10, BUFFER, "fq_pie,preset=linux", 60),
    row(&["cubic", "reno"], 10, "1000 packets", "red", 60),
    row(&["cubic", "ledbat++"], 20, "500 ms", "droptail", 20),
    row(&["cubic", "ledbat++"], 10, BUFFER, "fq_codel,preset=linux", 40),
    row(&["cubic", "ledbat++"], 10, BUFFER, "pie,preset=linux", 40),
    row(&["cubic", "libutp"], 10, BUFFER, "pie,preset=linux", 60),
    row(&["cubic", "libutp"], 10, BUFFER, "fq_codel,preset=linux", 60),
    row(&["cubic", "libutp-mod"], 10, BUFFER, "pie,preset=linux", 60),
    row(&["cubic", "ledbat"], 10, "200 ms", "droptail", 50),
    row(&["ledbat++", "ledbat++"], 10, "300 ms", "droptail", 50),
    row(&["reno", "ledbat"], 10, "200 ms", "droptail", 50),
    // Half a BDP, one, four.
    row(&["bbr"], 20, "80 ms", "droptail", 40),
    row(&["cubic", "bbr"], 20, "20 ms", "droptail", 40),
    row(&["cubic", "bbr"], 20, "40 ms", "droptail", 40),
    row(&["cubic", "bbr"], 20, "160 ms", "droptail", 40),
    row(&["bbr", "bbr"], 20, "80 ms", "droptail", 40),
];

/// How a row is judged.
pub struct Judgement {
    /// Fewest runs in the testbed, unless the command line gives their number.
    pub runs: u64,
    /// The middle of the runs instead of their mean: a single run of BBR beside CUBIC may be all one's or all the other's.
    pub by_median: bool,
    /// Largest difference of shares, points.
    pub share: f64,
    /// Largest difference of queues, as a part of the real one.
    pub queue: f64,
}

impl Row {
    /// Returns the row's name.
    pub fn name(&self) -> String {
        let queue = self.queue.split(',').next().unwrap_or_default();
        let Row { flows, mbit, buffer, rtt_ms, .. } = self;
        format!("{}, {mbit} Mbit/s, {rtt_ms} ms, {queue} of {buffer}", flows.join(" : "))
    }

    /// Returns how it is judged.
    pub fn judgement(&self) -> Judgement {
        let has = |flow| self.flows.contains(&flow);
        match (has("bbr"), has("cubic")) {
            (true, beside_cubic) => {
                Judgement { runs: if beside_cubic { 9 } else { 5 }, by_median: true, share: 8.0, queue: 0.25 }
            }
            (false, _) => Judgement { runs: 3, by_median: false, share: 6.0, queue: 0.15 },
        }
    }

    /// Returns its file, measured from `from_s` to `to_s`.
    pub fn text(&self, from_s: u64, to_s: u64) -> String {
        let Row { mbit, buffer, queue, .. } = self;
        let flows: String = (0..self.flows.len()).map(|index| self.flow(index)).collect();
        format!(
            "duration = \"{to_s} s\"\n[link]\nrate = \"{mbit} Mbit/s\"\nbuffer = \"{buffer}\"\nqueue = \"{queue}\"\n{flows}\
             [[measure]]\nname = \"steady\"\nfrom = \"{from_s} s\"\nto = \"{to_s} s\"\n"
        )
    }

    fn flow(&self, index: usize) -> String {
        // As the kernel's: no pacing, its own HyStart and its own Reno-friendly region.
        let tcp = "transport = { kind = \"tcp\", pacing = \"off\" }";
        let (controller, transport) = match self.flows[index] {
            "bbr" => ("\"bbr\"", "transport = \"tcp\""),
            "cubic" => ("{ kind = \"cubic\", hystart = \"linux\", friendly = \"linux\" }", tcp),
            "reno" => ("\"newreno\"", tcp),
            "libutp" => ("\"libutp\"", "transport = { kind = \"utp\", recovery = \"libutp\" }"),
            "libutp-mod" => ("\"libutp\"", "transport = { kind = \"utp\", recovery = \"libutp-mod\" }"),
            "ledbat" => ("\"ledbat\"", "transport = \"utp\""),
            _ => ("\"ledbat++\"", "transport = \"utp\""),
        };
        format!(
            "[[flow]]\nname = \"{index}\"\ncontroller = {controller}\n{transport}\nrtt = \"{} ms\"\n\
             start = {{ uniform = [\"0 s\", \"0.2 s\"] }}\n",
            self.rtt_ms
        )
    }
}
