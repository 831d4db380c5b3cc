//! Bad links: rates, buffers, queues, traces, losses, delays.

use super::*;

#[test]
fn a_rate_is_a_positive_number_with_its_unit() {
    refused(
        "sim",
        &[
            (RATE, r#"rate = "0 Mbit/s""#, r#""0 Mbit/s""#, "use at least 8 bit/s"),
            (RATE, r#"rate = "-5 Mbit/s""#, r#""-5 Mbit/s""#, "use a rate of 0 bit/s to 10000 Gbit/s"),
            (RATE, r#"rate = "99999 Gbit/s""#, r#""99999 Gbit/s""#, "use a rate of 0 bit/s to 10000 Gbit/s"),
            (RATE, "rate = 5", "5", NO_RATE),
            (RATE, r#"rate = "5 MB""#, r#""5 MB""#, NO_RATE),
            (RATE, "rate = nan", "nan", NO_RATE),
            (RATE, r#"rate = "inf Mbit/s""#, r#""inf Mbit/s""#, NO_RATE),
            (RATE, "rate = true", "true", "text with a unit"),
            (RATE, "rate = { steps = [] }", "[]", "write one at least"),
            (
                RATE,
                r#"rate = { steps = [["0 s", "1 Mbit/s"], ["0 s", "2 Mbit/s"]] }"#,
                r#"["0 s", "2 Mbit/s"]"#,
                "times ascend",
            ),
            (RATE, r#"rate = { steps = [["-1 s", "1 Mbit/s"]] }"#, r#""-1 s""#, TIME),
            (LINK, r#"reverse = { rate = "0 bit/s" }"#, r#""0 bit/s""#, "use at least 8 bit/s"),
        ],
    );
}

#[test]
fn a_trace_is_a_file_whose_times_ascend_from_zero() {
    refused(
        "sim",
        &[
            (
                RATE,
                r#"rate = { trace = "missing.csv" }"#,
                r#""missing.csv""#,
                "no such file beside the scenario",
            ),
            (RATE, r#"rate = { trace = "empty.csv" }"#, r#""empty.csv""#, "there is nothing in it"),
            (RATE, r#"rate = { trace = "heading.csv" }"#, r#""heading.csv""#, "write two at least"),
            (
                RATE,
                r#"rate = { trace = "negative.csv" }"#,
                r#""negative.csv""#,
                "line 2: this time is out of range: use 0 to 100000000 s",
            ),
            (RATE, r#"rate = { trace = "unordered.csv" }"#, r#""unordered.csv""#, "line 3: times ascend"),
            (
                RATE,
                r#"rate = { trace = "nan.csv" }"#,
                r#""nan.csv""#,
                "line 1: this rate is out of range: use 0 to 1e13 bit/s",
            ),
            (
                RATE,
                r#"rate = { trace = "backwards.trace" }"#,
                r#""backwards.trace""#,
                "line 2: this comes after a later time",
            ),
            (
                RATE,
                r#"rate = { trace = "minus.trace" }"#,
                r#""minus.trace""#,
                "line 1: this is no whole number of milliseconds from 0",
            ),
            (
                LINK,
                r#"jitter = { samples = "minus.samples" }"#,
                r#""minus.samples""#,
                "line 2: this time is out of range: use 0 to 100000000 s",
            ),
            (
                LINK,
                r#"jitter = { samples = "weights.samples" }"#,
                r#""weights.samples""#,
                "line 1: this is no weight: use 0 to",
            ),
        ],
    );
}

#[test]
fn a_chain_of_states_has_rates_times_and_probabilities() {
    refused(
        "sim",
        &[
            (RATE, r#"rate = { markov = "satelite" }"#, r#""satelite""#, r#"did you mean "satellite"?"#),
            (
                RATE,
                r#"rate = { markov = { states = [{ name = "a", rate = "1 Mbit/s", dwell = "1 s" }, { name = "b", rate = "1 Mbit/s", dwell = "0 s" }] } }"#,
                r#"{ name = "b", rate = "1 Mbit/s", dwell = "0 s" }"#,
                "use 1 ms or more",
            ),
            (
                RATE,
                r#"rate = { markov = { states = [{ name = "a", rate = "1 Mbit/s", dwell = "1 s" }, { name = "b", rate = "1 Mbit/s", dwell = "1 s", error = "120 %" }] } }"#,
                r#""120 %""#,
                PROBABILITY,
            ),
            (
                RATE,
                r#"rate = { markov = { states = [{ name = "a", rate = "1 Mbit/s", dwell = "1 s" }, { name = "b", rate = "1 Mbit/s", dwell = "1 s", next = { c = 1 } }] } }"#,
                "c",
                "use one of a, b",
            ),
        ],
    );
}

#[test]
fn every_element_takes_probabilities_from_0_to_100_per_cent() {
    refused(
        "sim",
        &[
            (LINK, "loss = 1.2", "1.2", NO_PROBABILITY),
            (LINK, r#"loss = "120 %""#, r#""120 %""#, PROBABILITY),
            (LINK, r#"loss = "-1 %""#, r#""-1 %""#, PROBABILITY),
            (LINK, "loss = nan", "nan", NO_PROBABILITY),
            (LINK, "loss = { gilbert_elliott = { mean = 1.2, burst = 3 } }", "1.2", NO_PROBABILITY),
            (
                LINK,
                r#"loss = { gilbert_elliott = { mean = "1 %", burst = 0.5 } }"#,
                "0.5",
                "from 1 to 1000000",
            ),
            (LINK, r#"loss = { gilbert_elliott = { p = "120 %", r = "50 %" } }"#, r#""120 %""#, PROBABILITY),
            (
                LINK,
                r#"loss = { gilbert_elliott = { p = "20 %", r = "50 %", bad = "101 %" } }"#,
                r#""101 %""#,
                PROBABILITY,
            ),
            (LINK, "loss = { every = 0 }", "0", "whole number from 1"),
            (LINK, "duplicate = 1.2", "1.2", NO_PROBABILITY),
            (LINK, r#"duplicate = "101 %""#, r#""101 %""#, PROBABILITY),
            (LINK, r#"reverse = { loss = "101 %" }"#, r#""101 %""#, PROBABILITY),
            (FLOW, r#"loss = "101 %""#, r#""101 %""#, PROBABILITY),
            (FLOW, r#"duplicate = "-1 %""#, r#""-1 %""#, PROBABILITY),
        ],
    );
}

#[test]
fn delays_are_times_and_laws_have_their_bounds() {
    refused(
        "sim",
        &[
            (LINK, r#"delay = "-1 ms""#, r#""-1 ms""#, TIME),
            (LINK, r#"delay = { steps = [["0 s", "-1 ms"]] }"#, r#""-1 ms""#, TIME),
            (
                LINK,
                r#"delay = { steps = [["0 s", "1 ms"], ["2 s", "1 ms"], ["1 s", "2 ms"]] }"#,
                r#"["1 s", "2 ms"]"#,
                "times ascend",
            ),
            (LINK, r#"jitter = "lots""#, r#""lots""#, r#"or "none""#),
            (LINK, r#"jitter = { uniform = "-1 ms" }"#, r#""-1 ms""#, TIME),
            (LINK, r#"jitter = { uniform = ["5 ms", "1 ms"] }"#, r#"["5 ms", "1 ms"]"#, "swap them"),
            (LINK, r#"jitter = { normal = { mean = "1 ms", deviation = "-1 ms" } }"#, r#""-1 ms""#, TIME),
            (LINK, r#"jitter = { lognormal = { median = "1 ms", sigma = 9 } }"#, "9", "from 0 to 5"),
            (LINK, r#"jitter = { lognormal = { median = "1 ms", sigma = nan } }"#, "nan", "from 0 to 5"),
            (LINK, "jitter = { samples = [] }", "[]", "with a weight above 0"),
            (LINK, r#"aggregate = { acks = 0, time = "5 ms" }"#, "0", "from 1 to 100000"),
            (LINK, r#"aggregate = { time = "-1 ms" }"#, r#""-1 ms""#, TIME),
            (FLOW, r#"jitter = { uniform = "-1 ms" }"#, r#""-1 ms""#, TIME),
        ],
    );
}

#[test]
fn queues_and_buffers_hold_something_and_keep_their_parameters_in_range() {
    refused(
        "sim",
        &[
            (BUFFER, r#"buffer = "0 packets""#, r#""0 packets""#, "at least 1 packet"),
            (BUFFER, r#"buffer = "-1 packets""#, r#""-1 packets""#, "use a buffer of 1 packet to"),
            (BUFFER, r#"buffer = "9 furlongs""#, r#""9 furlongs""#, "time, packets or bytes"),
            (BUFFER, r#"buffer = "1 B""#, r#""1 B""#, "use at least 1500 B"),
            (LINK, r#"queue = "coddel""#, r#""coddel""#, r#"did you mean "codel"?"#),
            (LINK, r#"queue = { kind = "red", max_p = 1.2 }"#, "1.2", "use 0.0001 to 1"),
            (LINK, r#"queue = { kind = "codel", target = "-5 ms" }"#, r#""-5 ms""#, "a time with a unit"),
            (LINK, r#"queue = { kind = "codel", ecn = 7 }"#, "7", "true or false"),
            (LINK, "lost = 1", "lost", r#"did you mean "loss"?"#),
        ],
    );
}
