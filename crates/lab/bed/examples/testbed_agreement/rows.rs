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
    /// Random losses in each direction.
    pub loss: &'static str,
}

const fn row(
    flows: &'static [&'static str],
    mbit: u32,
    buffer: &'static str,
    queue: &'static str,
    rtt_ms: u32,
) -> Row {
    Row { flows, mbit, buffer, queue, rtt_ms, loss: "0 %" }
}

/// Returns a row of ebb at 20 Mbit/s.
const fn ebb(flows: &'static [&'static str], buffer: &'static str, queue: &'static str, rtt_ms: u32) -> Row {
    row(flows, 20, buffer, queue, rtt_ms)
}

const fn ebb_alone(rtt_ms: u32, loss: &'static str) -> Row {
    Row { loss, ..ebb(&["ebb"], "100 ms", "droptail", rtt_ms) }
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
    ebb(&["cubic", "ebb"], "30 ms", "droptail", 5),
    ebb(&["cubic", "ebb"], "30 ms", "droptail", 50),
    ebb(&["cubic", "ebb"], "30 ms", "droptail", 135),
    ebb(&["cubic", "ebb"], "30 ms", "droptail", 250),
    ebb(&["cubic", "ebb"], "100 ms", "droptail", 5),
    ebb(&["cubic", "ebb"], "100 ms", "droptail", 50),
    ebb(&["cubic", "ebb"], "100 ms", "droptail", 135),
    ebb(&["cubic", "ebb"], "100 ms", "droptail", 250),
    ebb(&["cubic", "ebb"], "500 ms", "droptail", 5),
    ebb(&["cubic", "ebb"], "500 ms", "droptail", 50),
    ebb(&["cubic", "ebb"], "500 ms", "droptail", 135),
    ebb(&["cubic", "ebb"], "500 ms", "droptail", 250),
    // The check of every commit runs all rows with fq_codel, for 12 s. On shorter paths the share depends on when ebb asks for its own: the
    // simulator's seeds differ by 13 to 17 points then.
    ebb(&["cubic", "ebb"], BUFFER, "fq_codel,preset=linux", 135),
    ebb(&["cubic", "ebb"], BUFFER, "codel", 50),
    ebb(&["cubic", "ebb"], BUFFER, "pie,preset=linux", 50),
    ebb(&["bbr", "ebb"], "100 ms", "droptail", 5),
    ebb(&["bbr", "ebb"], "100 ms", "droptail", 50),
    ebb(&["bbr", "ebb"], "100 ms", "droptail", 135),
    ebb(&["bbr", "ebb"], "100 ms", "droptail", 250),
    ebb_alone(5, "0 %"),
    ebb_alone(50, "0 %"),
    ebb_alone(135, "0 %"),
    ebb_alone(250, "0 %"),
    ebb_alone(5, "1 %"),
    ebb_alone(50, "1 %"),
    ebb_alone(135, "1 %"),
    ebb_alone(250, "1 %"),
];

/// How a row is judged.
pub struct Judgement {
    /// Fewest runs in the testbed, unless the command line gives their number.
    pub runs: u64,
    /// The middle of the runs instead of their mean: a single run of BBR beside CUBIC may be all one's or all the other's.
    pub by_median: bool,
    /// Largest difference of utilisation, points.
    pub utilisation: f64,
    /// Largest difference of shares, points.
    pub share: f64,
    /// Largest difference of queues, as a part of the real one.
    pub queue: f64,
    /// A smaller difference of queues is none: where the real one is below 10 ms, and elsewhere.
    pub queue_ms: (f64, f64),
}

impl Judgement {
    /// Returns the judgement by the means of three runs.
    pub const OF_MEANS: Judgement = Judgement {
        runs: 3,
        by_median: false,
        utilisation: 3.0,
        share: 6.0,
        queue: 0.15,
        queue_ms: (1.0, 3.0),
    };
}

impl Row {
    /// Returns the row's name.
    pub fn name(&self) -> String {
        let queue = self.queue.split(',').next().unwrap_or_default();
        let Row { flows, mbit, buffer, rtt_ms, loss, .. } = self;
        let lossy = if *loss == "0 %" { String::new() } else { format!(", {loss} lost") };
        format!("{}, {mbit} Mbit/s, {rtt_ms} ms, {queue} of {buffer}{lossy}", flows.join(" : "))
    }

    /// Returns how it is judged.
    pub fn judgement(&self) -> Judgement {
        let has = |flow| self.flows.contains(&flow);
        let of_means = Judgement::OF_MEANS;
        let queue_ms = if has("ebb") { (2.0, 2.0) } else { of_means.queue_ms };
        if has("bbr") {
            let runs = if has("cubic") { 9 } else { 5 };
            return Judgement { runs, by_median: true, share: 8.0, queue: 0.25, queue_ms, ..of_means };
        }
        // Alone its share is the utilisation.
        let utilisation = if self.flows == ["ebb"] { of_means.share } else { of_means.utilisation };
        Judgement { utilisation, queue_ms, ..of_means }
    }

    /// Returns its file, measured from `from_s` to `to_s`.
    pub fn text(&self, from_s: u64, to_s: u64) -> String {
        let Row { mbit, buffer, queue, loss, .. } = self;
        let flows: String = (0..self.flows.len()).map(|index| self.flow(index)).collect();
        format!(
            "duration = \"{to_s} s\"\n[link]\nrate = \"{mbit} Mbit/s\"\nbuffer = \"{buffer}\"\nqueue = \"{queue}\"\nloss = \"{loss}\"\n{flows}\
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
            "ebb" => ("\"ebb\"", "transport = \"utp\""),
            _ => ("\"ledbat++\"", "transport = \"utp\""),
        };
        format!(
            "[[flow]]\nname = \"{index}\"\ncontroller = {controller}\n{transport}\nrtt = \"{} ms\"\n\
             start = {{ uniform = [\"0 s\", \"0.2 s\"] }}\n",
            self.rtt_ms
        )
    }
}
