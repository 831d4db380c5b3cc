//! Bad flows: paths, controllers, transports, times, traffic.

use super::*;

#[test]
fn a_flow_has_a_controller_a_transport_and_a_round_trip_time_in_their_ranges() {
    refused(
        "sim",
        &[
            (CONTROLLER, r#"controller = "cubik""#, r#""cubik""#, r#"did you mean "cubic"?"#),
            (CONTROLLER, r#"controller = "none""#, r#""none""#, "use one of ledbat++"),
            (
                CONTROLLER,
                r#"controller = "ledbat++,target=4s""#,
                r#""ledbat++,target=4s""#,
                "use 1 ms to 100 ms",
            ),
            (CONTROLLER, r#"controller = "cubic,beta=inf""#, r#""cubic,beta=inf""#, "write a number"),
            (CONTROLLER, r#"controller = { kind = "ledbat", gain = nan }"#, "nan", "write a number"),
            (FLOW, r#"transport = "sctp""#, r#""sctp""#, "use one of tcp, utp, udp"),
            (FLOW, r#"transport = "udp""#, r#""udp""#, "use utp, quic or tcp"),
            (FLOW, r#"transport = { kind = "tcp", rwnd = "0 B" }"#, r#""0 B""#, "use 1000 B to"),
            (FLOW, r#"transport = { kind = "utp", skew = 1e9 }"#, "1e9", "use -1000 to 1000"),
            (RTT, r#"rtt = "-1 ms""#, r#""-1 ms""#, TIME),
            (RTT, "rtt = 20", "20", NO_TIME),
            (RTT, r#"rtt = "20 Mbit/s""#, r#""20 Mbit/s""#, NO_TIME),
            (RTT, r#"rtt = { uniform = ["9 ms", "1 ms"] }"#, r#"["9 ms", "1 ms"]"#, "swap them"),
            (RTT, r#"rtt = { samples = [["1 ms", -1]] }"#, "-1", "from 0 to 1000000000"),
            (
                FLOW,
                r#"packet = { payload = "0 B", overhead = "40 B" }"#,
                r#"{ payload = "0 B", overhead = "40 B" }"#,
                "use 1 B to 65000 B",
            ),
            (FLOW, "dscp = 64", "64", "from 0 to 63"),
            (FLOW, r#"role = "middle""#, r#""middle""#, "use one of foreground, background"),
            (FLOW, "count = 1000000", "1000000", "from 0 to 20000"),
            (
                FLOW,
                "hosts = \"h\"\ntraffic = { swarm = { chunk = \"9 kB\", persist = 1, idle_rtts = -1 } }",
                "-1",
                "from 0 to 100",
            ),
            (
                FLOW,
                "hosts = \"h\"\ntraffic = { swarm = { chunk = \"9 kB\", tit_for_tat = true, persist = 0.5 } }",
                "0.5",
                "leave persist out",
            ),
            (
                FLOW,
                "hosts = \"h\"\ntraffic = { swarm = { chunk = \"9 kB\", tit_for_tat = 1 } }",
                "1",
                "true or false",
            ),
            (FLOW, "nmae = 3", "nmae", r#"did you mean "name"?"#),
        ],
    );
}

#[test]
fn times_of_a_flow_are_in_order() {
    refused(
        "sim",
        &[
            (FLOW, r#"start = "-1 s""#, r#""-1 s""#, TIME),
            (FLOW, r#"start = { uniform = ["3 s", "1 s"] }"#, r#"["3 s", "1 s"]"#, "swap them"),
            (FLOW, r#"stop = "0 s""#, r#""0 s""#, "use a time after"),
            (FLOW, r#"stop = "-3 rtt""#, r#""-3 rtt""#, r#"such as "3 rtt""#),
            (FLOW, r#"active = [["2 s", "1 s"]]"#, r#"[["2 s", "1 s"]]"#, "with from below to"),
            (
                FLOW,
                r#"active = [["0 s", "2 s"], ["1 s", "3 s"]]"#,
                r#"[["0 s", "2 s"], ["1 s", "3 s"]]"#,
                "each after the one before",
            ),
        ],
    );
}

#[test]
fn traffic_has_sizes_times_and_laws_in_their_ranges() {
    refused(
        "sim",
        &[
            (FLOW, r#"traffic = "all""#, r#""all""#, r#"write "bulk""#),
            (FLOW, r#"traffic = { size = "0 B" }"#, r#"{ size = "0 B" }"#, "use 1 B or more"),
            (FLOW, r#"traffic = { size = "-1 B" }"#, r#""-1 B""#, "a size of 0 B to 1000000 GB"),
            (FLOW, r#"traffic = { size = "9 ms" }"#, r#""9 ms""#, "such as 250kB"),
            (
                FLOW,
                r#"traffic = { chunk = "0 B", pause = "1 rtt", persist = 0.5 }"#,
                r#"{ chunk = "0 B", pause = "1 rtt", persist = 0.5 }"#,
                "use 1 B or more",
            ),
            (
                FLOW,
                r#"traffic = { chunk = "1 MB", pause = "1 rtt", persist = 1.2 }"#,
                "1.2",
                "a number from 0 to 1",
            ),
            (
                FLOW,
                r#"traffic = { on = "0 s", off = "1 s" }"#,
                r#"{ on = "0 s", off = "1 s" }"#,
                "use 1 ms or more",
            ),
            (
                FLOW,
                r#"traffic = { every = "0 s", size = "9 kB" }"#,
                r#"{ every = "0 s", size = "9 kB" }"#,
                "use 1 ms or more",
            ),
            (
                FLOW,
                r#"traffic = { arrivals = { poisson = "0 per s" }, size = "9 kB" }"#,
                r#""0 per s""#,
                r#"such as "50 per s""#,
            ),
            (
                FLOW,
                r#"traffic = { arrivals = { poisson = "1e9 per s" }, size = "9 kB" }"#,
                r#"{ arrivals = { poisson = "1e9 per s" }, size = "9 kB" }"#,
                "more than 10000000 arrivals",
            ),
            (
                FLOW,
                r#"traffic = { arrivals = "1 s", size = { exponential = "0 B" } }"#,
                r#"{ arrivals = "1 s", size = { exponential = "0 B" } }"#,
                "use 1 B or more",
            ),
            (
                FLOW,
                r#"traffic = { arrivals = "1 s", size = { uniform = ["9 kB", "1 kB"] } }"#,
                r#"["9 kB", "1 kB"]"#,
                "swap them",
            ),
            (
                FLOW,
                r#"traffic = { arrivals = "1 s", size = { lognormal = { median = "9 kB", sigma = 9 } } }"#,
                r#"{ median = "9 kB", sigma = 9 }"#,
                "from 0 to 5",
            ),
            (
                FLOW,
                r#"traffic = { arrivals = "1 s", size = { pareto = { shape = nan, min = "9 kB" } } }"#,
                r#"{ shape = nan, min = "9 kB" }"#,
                "from 0.1 to 100",
            ),
            (
                FLOW,
                r#"traffic = { arrivals = "1 s", size = { pareto = { shape = 1.2, min = "9 kB", cap = "1 kB" } } }"#,
                r#"{ shape = 1.2, min = "9 kB", cap = "1 kB" }"#,
                "cap is below min",
            ),
            (
                FLOW,
                r#"traffic = { arrivals = "1 s", size = { zipf = 1 } }"#,
                "zipf",
                "{ exponential = mean }",
            ),
            (
                FLOW,
                r#"traffic = { web = { users = 0, think = "1 s", size = "1 kB" } }"#,
                "0",
                "from 1 to 10000",
            ),
            (FLOW, r#"traffic = { web = { users = 9, think = "-1 s", size = "1 kB" } }"#, r#""-1 s""#, TIME),
            (FLOW, r#"traffic = { downloads = 0, size = "1 kB" }"#, "0", "from 1 to 1000"),
        ],
    );
}

#[test]
fn constant_rates_are_above_zero_and_their_payloads_fit_a_packet() {
    refused(
        "sim",
        &[
            (CONTROLLER, r#"traffic = { cbr = "0 bit/s" }"#, r#"{ cbr = "0 bit/s" }"#, "use 8 bit/s or more"),
            (
                CONTROLLER,
                r#"traffic = { cbr = "1 Mbit/s", payload = "9 B" }"#,
                r#"{ cbr = "1 Mbit/s", payload = "9 B" }"#,
                "use 16 B to 1400 B",
            ),
            (
                CONTROLLER,
                r#"traffic = { cbr = "1 Mbit/s", gaps = "poison" }"#,
                r#""poison""#,
                "use one of equal, exponential",
            ),
            (
                CONTROLLER,
                r#"controller = "cubic"
traffic = { cbr = "1 Mbit/s" }"#,
                r#""cubic""#,
                "leave it out",
            ),
        ],
    );
}
