//! The scenario files of studies, built into the program.

macro_rules! scenarios {
    ($($folder:literal: [$($name:literal),+ $(,)?]),+ $(,)?) => {
        &[$($(($name, include_str!(concat!("../scenarios/", $folder, "/", $name)))),+),+]
    };
}

/// The scenario files by name.
const SCENARIOS: &[(&str, &str)] = scenarios![
    "papers": [
        "alsaadi-a0.toml",
        "alsaadi-pair.toml",
        "alsaadi-rto.toml",
        "bagnulo-b0.toml",
        "bagnulo-four.toml",
        "bagnulo-pair.toml",
        "bagnulo-short.toml",
        "carofiglio-c0.toml",
        "carofiglio-c9-peer.toml",
        "carofiglio-c9-swarm.toml",
        "carofiglio-libutp.toml",
        "carofiglio-staggered.toml",
        "carofiglio-tcp.toml",
        "gong-g0.toml",
        "kuhn-k1.toml",
        "kuhn-k2.toml",
        "kuhn-k3.toml",
    ],
    "questions": [
        "mixed-utp.toml",
        "restore-alone.toml",
        "restore-cubic.toml",
        "restore-latecomer.toml",
        "target.toml",
    ],
];

/// Returns the text of a scenario file by its name in `scenarios/papers` or `scenarios/questions`.
pub fn scenario(name: &str) -> Option<&'static str> {
    SCENARIOS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Returns the names of all scenario files.
pub fn scenarios() -> impl Iterator<Item = &'static str> {
    SCENARIOS.iter().map(|(name, _)| *name)
}
