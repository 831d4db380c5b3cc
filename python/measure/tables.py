"""Measures how long 10⁷ points of curves take into polars, pyarrow and pandas, and what `run` costs beside the command."""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import polars
import pyarrow

import afteryou

LINK = {"rate": "100 Mbit/s", "buffer": "200 packets"}
FLOW = {"name": "a", "controller": "cubic", "rtt": "20 ms"}


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def tables() -> None:
    scenario = afteryou.Scenario({"duration": "1000 s", "sample": "10 ms", "link": LINK | {"rate": "1 Mbit/s"}, "flow": [FLOW]})
    # A scenario has no ten million points: the curves of a shorter one are repeated.
    outcome = json.loads(afteryou.run(scenario).json())
    curves = outcome["run"]["series"]
    points = sum(value is not None for curve in curves for value in curve["values"])
    outcome["run"]["series"] = curves * (10_000_000 // points + 1)
    path = Path(tempfile.mkdtemp()) / "result.json"
    path.write_text(json.dumps(outcome))
    result = afteryou.Result.load(path)
    began = time.perf_counter()
    series = result.series
    print(f"{len(series)} points; made into a table in {time.perf_counter() - began:.2f} s")
    arrow = pyarrow.table(series)
    frame = polars.DataFrame(series)
    theirs = frame["value"].to_numpy(allow_copy=False).__array_interface__["data"][0]
    assert arrow["value"].chunk(0).buffers()[1].address == theirs, "no copy"
    for name, read in (
        ("pyarrow", lambda: pyarrow.table(series)),
        ("polars", lambda: polars.DataFrame(series)),
        ("pandas", series.to_pandas),
    ):
        print(f"{name}: {min(timed(read) for _ in range(3)):.3f} s")


def overhead() -> None:
    # 120 s of 100 Mbit/s are a million packets.
    path = Path(tempfile.mkdtemp()) / "million.toml"
    path.write_text('duration = "120 s"\nlink = { rate = "100 Mbit/s", buffer = "200 packets" }\n' + 'flow = { name = "a", controller = "cubic", rtt = "20 ms" }\n')
    scenario = afteryou.Scenario.load(path)
    command = str(Path(sys.executable).parent / "afteryou")
    ours, theirs = [], []
    for _ in range(9):
        ours.append(_processor_s(lambda: afteryou.run(scenario), resource.RUSAGE_SELF))
        start = _processor_s(lambda: _call(command, "--version"), resource.RUSAGE_CHILDREN)
        theirs.append(_processor_s(lambda: _call(command, "sim", str(path)), resource.RUSAGE_CHILDREN) - start)
    one, other = statistics.median(ours), statistics.median(theirs)
    print(f"processor time of run: {one:.3f} s, of the command without its start: {other:.3f} s, {100 * (one / other - 1):+.1f} %")


def _call(*words: str) -> None:
    subprocess.run(words, capture_output=True, check=True)


def _processor_s(work: Callable[[], object], who: int) -> float:
    before = resource.getrusage(who)
    work()
    after = resource.getrusage(who)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    {"tables": tables, "overhead": overhead}[sys.argv[1]]()
