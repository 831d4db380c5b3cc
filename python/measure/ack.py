"""Measures what a rule in Python adds to an ack beside the same calls from Python."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import afteryou

FLOW = {"name": "a", "role": "background", "rtt": "40 ms"}


def scenario(controller: Any) -> afteryou.Scenario:
    flow = FLOW | {"controller": controller}
    return afteryou.Scenario({"duration": "300 s", "link": {"rate": "10 Mbit/s", "buffer": "300 ms"}, "flow": [flow]})


@afteryou.rule("hundred-packets")
class HundredPackets:
    calls = 0

    def __init__(self, mss: int) -> None:
        self.cwnd = 100 * mss

    def on_ack(self, ack: afteryou.Ack) -> None:
        HundredPackets.calls += 1


def best(work: Callable[[], object]) -> float:
    """The shortest of five times, s."""
    times = []
    for _ in range(5):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def calls(acks: int) -> None:
    rule: Any = HundredPackets(1448)
    for _ in range(acks):
        rule.on_ack(None)
        rule.cwnd


ours = scenario("hundred-packets")
afteryou.run(ours)
acks = HundredPackets.calls
rule_s = best(lambda: afteryou.run(ours))
built_in_s = best(lambda: afteryou.run(scenario({"kind": "ledbat", "signal": "rtt"})))
calls_s = best(lambda: calls(acks))
added_us = (rule_s - built_in_s - calls_s) / acks * 1e6
print(f"{acks} acks: {rule_s:.3f} s with a rule, {built_in_s:.3f} s with ledbat, {calls_s:.3f} s for the calls: {added_us:.2f} us an ack")
