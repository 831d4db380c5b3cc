//! Bad experiments: windows, scripts, sweeps.

use super::*;

#[test]
fn a_run_has_a_length_a_seed_and_measures() {
    refused(
        "sim",
        &[
            (DURATION, r#"duration = "0 s""#, r#""0 s""#, "use 1 ms or more"),
            (DURATION, r#"duration = "-1 s""#, r#""-1 s""#, TIME),
            (DURATION, r#"duration = "inf s""#, r#""inf s""#, NO_TIME),
            (DURATION, "duration = 5", "5", NO_TIME),
            (TOP, "seed = -1", "-1", "whole number from 0"),
            (TOP, "seed = 1.5", "1.5", "whole number from 0"),
            (TOP, "repeat = 0", "0", "from 1 to 100000"),
            (TOP, "repeat = 1000000000", "1000000000", "from 1 to 100000"),
            (TOP, r#"sample = "9 s""#, r#""9 s""#, "use 1 ms to 5 s"),
            (TOP, r#"record = ["all"]"#, r#""all""#, "use one of queues"),
            (TOP, r#"baseline = "with""#, r#""with""#, r#""without background" or "none""#),
            (TOP, r#"noise = "ns3""#, r#""ns3""#, "use one of none, testbed, ns2"),
            (TOP, r#"nmae = "x""#, "nmae", r#"did you mean "name"?"#),
            (TOP, r#"name = "twice""#, "name", "duplicate key"),
        ],
    );
}

#[test]
fn windows_lie_in_the_run_and_measure_flows_that_are_there() {
    refused(
        "sim",
        &[
            (TOP, r#"measure = { from = "7 s" }"#, r#"{ from = "7 s" }"#, "after the run (5 s)"),
            (TOP, r#"measure = { from = "3 s", to = "2 s" }"#, r#"{ from = "3 s", to = "2 s" }"#, "is empty"),
            (TOP, r#"measure = { from = "-1 s" }"#, r#""-1 s""#, TIME),
            (
                TOP,
                r#"measure = [{ name = "x", from = "1 s" }, { name = "x", from = "2 s" }]"#,
                r#"{ name = "x", from = "2 s" }"#,
                "rename one",
            ),
            (TOP, r#"measure = { from = "1 s", flows = ["b"] }"#, r#""b""#, "use one of a"),
            (
                TOP,
                r#"measure = { from = "1 s", flows = "all", starved = "120 %" }"#,
                r#""120 %""#,
                PROBABILITY,
            ),
            (TOP, r#"measure = { from = "1 s", flows = "all", stall = "-1 s" }"#, r#""-1 s""#, TIME),
        ],
    );
}

#[test]
fn scripts_name_flows_and_times_of_the_run() {
    refused(
        "sim",
        &[
            (TOP, r#"drop = [{ flow = "b", packet = 1 }]"#, r#"{ flow = "b", packet = 1 }"#, "use one of a"),
            (TOP, r#"drop = [{ flow = "a", packet = 0 }]"#, "0", "whole number from 1"),
            (
                TOP,
                r#"drop = [{ at = "2 s", until = "1 s" }]"#,
                r#"{ at = "2 s", until = "1 s" }"#,
                "a later until",
            ),
            (TOP, r#"drop = [{ at = "1 s", every = 0 }]"#, "0", "whole number from 1"),
            (TOP, r#"delay = [{ flow = "a", packet = 1, by = "-1 ms" }]"#, r#""-1 ms""#, TIME),
            (TOP, r#"route_change = { at = "9 s", rtt = "9 ms" }"#, r#""9 s""#, "use a time below 5 s"),
            (TOP, r#"route_change = { at = "1 s" }"#, r#"{ at = "1 s" }"#, "write path = …, rtt = … or both"),
        ],
    );
}

#[test]
fn a_sweep_has_values_that_fit_and_not_too_many_of_them() {
    refused(
        "sim",
        &[
            (
                FLOW,
                r#"[sweep]
"link.rate" = { from = "1 Mbit/s", to = "1001 Mbit/s", step = "1 bit/s" }"#,
                r#"{ from = "1 Mbit/s", to = "1001 Mbit/s", step = "1 bit/s" }"#,
                "1 to 100000 runs can be made",
            ),
            (
                FLOW,
                r#"[sweep]
"flow.a.count" = { from = 1, to = 1000000000, step = 1 }"#,
                "{ from = 1, to = 1000000000, step = 1 }",
                "1 to 100000 runs can be made",
            ),
            (
                FLOW,
                r#"[sweep]
"link.rate" = { from = "1 Mbit/s", to = "2 Mbit/s", step = "0 Mbit/s" }"#,
                r#""0 Mbit/s""#,
                "a step lies above zero",
            ),
            (
                FLOW,
                r#"[sweep]
"link.rate" = { log = ["0 Mbit/s", "1 Mbit/s"], per_decade = 3 }"#,
                r#""0 Mbit/s""#,
                "above zero",
            ),
            (
                FLOW,
                r#"[sweep]
"link.rate" = { log = ["1 Mbit/s", "2 Mbit/s"], per_decade = 0 }"#,
                "0",
                "from 1 to 1000",
            ),
            (
                FLOW,
                r#"[sweep]
"link.rate" = []"#,
                "[]",
                "two or more values",
            ),
            (
                FLOW,
                r#"[sweep]
"link.loss" = ["1 %", "120 %"]"#,
                r#""120 %""#,
                PROBABILITY,
            ),
            (
                FLOW,
                r#"[sweep]
"flow.a.rtt" = ["none", "1 ms"]"#,
                r#""none""#,
                r#""none" takes a whole flow away"#,
            ),
            (
                FLOW,
                r#"[sweep]
"flow.b.rtt" = ["1 ms", "2 ms"]"#,
                r#""flow.b.rtt""#,
                "use one of a",
            ),
            (
                FLOW,
                r#"[sweep]
"link.lost" = [1, 2]"#,
                r#""link.lost""#,
                r#"did you mean "loss"?"#,
            ),
        ],
    );
}

#[test]
fn the_fluid_engine_has_a_step_above_zero() {
    refused(
        "fluid",
        &[
            (TOP, r#"fluid = { step = "0 s" }"#, r#""0 s""#, "use a longer step"),
            (TOP, "fluid = { trials = 0 }", "0", "from 1 to 100000"),
            (TOP, r#"fluid = { rtt = "none" }"#, r#""none""#, "use one of constant, with-queue"),
        ],
    );
}

#[test]
fn names_are_there_once() {
    refused(
        "sim",
        &[
            (
                FLOW,
                r#"[[flow]] # again
name = "a"
controller = "cubic"
rtt = "9 ms""#,
                "[[flow]]",
                "rename one",
            ),
            (
                FLOW,
                r#"[[drop]]
flow = "b""#,
                "[[drop]]",
                "use one of a",
            ),
        ],
    );
}
