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
];

impl Row {
    /// Returns the row's name.
    pub fn name(&self) -> String {
        let queue = self.queue.split(',').next().unwrap_or_default();
        let Row { flows, mbit, buffer, rtt_ms, .. } = self;
        format!("{}, {mbit} Mbit/s, {rtt_ms} ms, {queue} of {buffer}", flows.join(" : "))
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
