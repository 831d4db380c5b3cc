"""Rules written in Python."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import afteryou
from afteryou import Ack, Loss, RuleError, Scenario, Timeout

TARGET_S = 0.1


@afteryou.rule("python-ledbat")
class PythonLedbat:
    """RFC 6817 by round-trip times, with the defaults of ``ledbat``."""

    def __init__(self, mss: int) -> None:
        self.mss, self.cwnd, self.closed_s = mss, 2.0 * mss, -1.0
        self.base: dict[int, int] = {}
        self.samples: list[tuple[float, int]] = []

    def queuing_us(self, ack: Ack) -> int | None:
        if ack.rtt_s is not None:
            rtt_us, minute = int(ack.rtt_s * 1e6 + 1e-3), int(ack.now_s // 60)
            self.base[minute] = min(rtt_us, self.base.get(minute, rtt_us))
            self.samples = [(ack.now_s, rtt_us), *self.samples[:3]]
        fresh = [us for at_s, us in self.samples if ack.now_s - at_s <= (ack.smoothed_rtt_s or ack.now_s)]
        return max(min(fresh) - min(self.base.values()), 0) if fresh else None

    def on_ack(self, ack: Ack) -> None:
        queuing_us = self.queuing_us(ack)
        if queuing_us is not None:
            off_target = (TARGET_S * 1e6 - queuing_us) / (TARGET_S * 1e6)
            self.cwnd += off_target * ack.delivered * self.mss / self.cwnd
        self.cwnd = max(self.cwnd, 2.0 * self.mss)

    def on_loss(self, loss: Loss) -> None:
        if loss.sent_at_s > self.closed_s:
            self.cwnd = min(self.cwnd, max(self.cwnd / 2, 2.0 * self.mss))
            self.closed_s = loss.now_s

    def on_timeout(self, timeout: Timeout) -> None:
        self.cwnd, self.closed_s = float(self.mss), timeout.now_s


def mul_div(a: int, b: int, c: int) -> int:
    """Returns ``a * b / c`` as 64 bits have room for it: a product that is too large loses its last bits."""
    over = max((a * b).bit_length() - 64, 0)
    if over == 0:
        return a * b // c
    shift = a.bit_length() + b.bit_length() - 64
    return (max(a, b) >> shift) * min(a, b) // (c >> shift)


@afteryou.rule("integer-ledbat")
class IntegerLedbat(PythonLedbat):
    """The same in the integers of ``ledbat``: windows and steps in 1/65536 of a byte, delays in microseconds."""

    def __init__(self, mss: int) -> None:
        super().__init__(mss)
        self.set(2 * mss << 16)

    def set(self, cwnd_16: int) -> None:
        self.cwnd_16 = cwnd_16
        self.cwnd = cwnd_16 >> 16  # bytes

    def on_ack(self, ack: Ack) -> None:
        queuing_us, target_us, cwnd_16 = self.queuing_us(ack), int(TARGET_S * 1e6), self.cwnd_16
        if queuing_us is not None:
            above = queuing_us > target_us
            acked = ack.delivered if above else min(ack.delivered, cwnd_16 >> 16)
            reno_step = mul_div(acked << 16, self.mss << 16, cwnd_16)
            step = mul_div(reno_step, abs(target_us - queuing_us), target_us)
            cwnd_16 = max(cwnd_16 - step, 0) if above else cwnd_16 + step
        self.set(max(cwnd_16, 2 * self.mss << 16))

    def on_loss(self, loss: Loss) -> None:
        if loss.sent_at_s > self.closed_s:
            self.set(min(self.cwnd_16, max(self.cwnd_16 // 2, 2 * self.mss << 16)))
            self.closed_s = loss.now_s

    def on_timeout(self, timeout: Timeout) -> None:
        self.set(self.mss << 16)
        self.closed_s = timeout.now_s


LINK = {"rate": "10 Mbit/s", "buffer": "300 ms"}


def with_controller(controller: Any, duration: str = "60 s", link: Any = LINK, **flow: Any) -> Scenario:
    flows = [{"name": "a", "controller": controller, "rtt": "40 ms", "role": "background", **flow}]
    return Scenario({"duration": duration, "link": link, "flow": flows})


def windows(scenario: Scenario) -> list[float]:
    points = afteryou.run(scenario).series.to_dicts()
    return [point["value"] for point in points if point["quantity"] == "cwnd"]


def test_ledbat_in_thirty_lines_has_the_windows_of_the_built_in_one() -> None:
    ours = windows(with_controller("python-ledbat"))
    theirs = windows(with_controller({"kind": "ledbat", "signal": "rtt"}))
    assert len(ours) == len(theirs) > 500 and max(theirs) > 100
    # Curves have three decimals.
    assert max((abs(a - b) - 1e-3) / b for a, b in zip(ours, theirs)) < 1e-4


@pytest.mark.parametrize("buffer", ["300 ms", "40 ms"])
def test_ledbat_in_the_same_integers_has_the_same_windows(buffer: str) -> None:
    link = {"rate": "10 Mbit/s", "buffer": buffer}
    ours = windows(with_controller("integer-ledbat", link=link))
    theirs = windows(with_controller({"kind": "ledbat", "signal": "rtt"}, link=link))
    assert len(ours) > 500
    assert ours == theirs


def test_a_run_with_a_rule_repeats_to_the_last_bit() -> None:
    scenario = with_controller("python-ledbat", "5 s")
    assert afteryou.run(scenario) == afteryou.run(scenario)


def test_parameters_come_from_the_scenario() -> None:
    @afteryou.rule("fixed-window")
    class FixedWindow:
        parameters = {"packets": 4.0}

        def __init__(self, mss: int, packets: float) -> None:
            self.cwnd = mss * packets

        def on_ack(self, ack: Ack) -> None: ...

    four, eight = (
        afteryou.run(with_controller(controller, "5 s")).flows.to_dicts()[0]["goodput_bit_s"]
        for controller in ("fixed-window", {"kind": "fixed-window", "packets": 8})
    )
    assert 1.9 < eight / four < 2.1
    with pytest.raises(afteryou.ScenarioError, match="packet"):
        with_controller({"kind": "fixed-window", "packet": 8})


def test_a_pacing_rate_limits_the_rate() -> None:
    @afteryou.rule("one-megabit")
    class OneMegabit:
        pacing_rate = 125_000.0

        def __init__(self, mss: int) -> None:
            self.cwnd = 1000 * mss

        def on_ack(self, ack: Ack) -> None: ...

    result = afteryou.run(with_controller("one-megabit", "5 s"))
    assert 0.85e6 < result.flows.to_dicts()[0]["goodput_bit_s"] < 1.01e6


def test_an_exception_carries_the_simulated_time() -> None:
    @afteryou.rule("divides")
    class Divides:
        cwnd = 3000

        def __init__(self, mss: int) -> None: ...

        def on_ack(self, ack: Ack) -> None:
            if ack.now_s > 2:
                raise ZeroDivisionError("of course")

    with pytest.raises(RuleError, match="ZeroDivisionError in on_ack at 2.0.* of course") as error:
        afteryou.run(with_controller("divides"))
    assert 2 < error.value.time_s < 2.1 and error.value.rule == "divides"  # type: ignore[operator]
    assert isinstance(error.value.__cause__, ZeroDivisionError)
    # The next run in this thread begins anew.
    afteryou.run(with_controller("python-ledbat", "2 s"))


@pytest.mark.parametrize("window", [-1, float("nan"), float("inf"), "wide", None])
def test_a_window_that_is_none_is_refused(window: Any) -> None:
    @afteryou.rule("wrong-window")
    class WrongWindow:
        def __init__(self, mss: int) -> None:
            self.cwnd: Any = mss

        def on_ack(self, ack: Ack) -> None:
            self.cwnd = window

    with pytest.raises(RuleError, match="on_ack"):
        afteryou.run(with_controller("wrong-window"))


def test_events_are_read_only() -> None:
    @afteryou.rule("writes")
    class Writes:
        cwnd = 3000

        def __init__(self, mss: int) -> None: ...

        def on_ack(self, ack: Ack) -> None:
            ack.delivered = 0  # type: ignore[misc]

    with pytest.raises(RuleError, match="AttributeError"):
        afteryou.run(with_controller("writes"))


def test_names_and_engines_are_checked() -> None:
    with pytest.raises(afteryou.Error, match="taken"):
        afteryou.rule("cubic")(PythonLedbat)
    with pytest.raises(afteryou.Error, match="lower-case"):
        afteryou.rule("Two Words")(PythonLedbat)
    with pytest.raises(ValueError, match="python-ledbat"):
        afteryou.run(with_controller("python-ledbat"), engine="bed")


def test_ctrl_c_ends_a_run_inside_a_rule() -> None:
    code = """
import afteryou, os, signal, threading
@afteryou.rule("slow")
class Slow:
    cwnd = 30000
    def __init__(self, mss): pass
    def on_ack(self, ack):
        for _ in range(10000): pass
flow = {"name": "a", "controller": "slow", "rtt": "20 ms"}
scenario = afteryou.Scenario({"duration": "10000 s", "link": {"rate": "1 Gbit/s", "buffer": "50 packets"}, "flow": [flow]})
# A shell starts what runs in the background with this signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    afteryou.run(scenario)
except KeyboardInterrupt:
    print("interrupted")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.stdout == "interrupted\n", ended.stderr
