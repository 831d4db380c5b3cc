"""Measures sweeps on a Dask cluster of this machine.

    python measure/sweeps.py speed      2 000 runs on one worker process and on two, three times each
    python measure/sweeps.py overhead   100 000 runs of 2 s of network: the part of the time that is not computing
    python measure/sweeps.py memory     the scheduler's memory in a sweep of 10⁶ runs that are replaced by no-ops
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from distributed import Client, LocalCluster

import afteryou
from afteryou import Scenario, sweeps
from afteryou._afteryou import Sweep, run_part

FILE = """
duration = "{duration} s"
repeat = {repeat}
link = {{ rate = "10 Mbit/s", buffer = "100 packets" }}
flow = {{ name = "a", controller = "cubic", rtt = "20 ms" }}
"""


def scenario(duration: int, repeat: int) -> Scenario:
    return Scenario(FILE.format(duration=duration, repeat=repeat))


def cluster(workers: int) -> Any:
    return LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50)


def timed(what: Scenario, workers: int) -> float:
    with cluster(workers) as local, Client(local) as client, tempfile.TemporaryDirectory() as out:
        began = time.monotonic()
        afteryou.sweep(what, out, client, progress=False)
        return time.monotonic() - began


def speed() -> None:
    sweeps.TASK_S = 10.0
    what = scenario(400, 2000)
    one, two = ([timed(what, workers) for _ in range(3)] for workers in (1, 2))
    ratio = statistics.median(one) / statistics.median(two)
    print(f"one worker {sorted(one)} s, two {sorted(two)} s: {ratio:.2f}x")


def overhead() -> None:
    what, spent = scenario(2, 100_000), 0.0
    with cluster(1) as local, Client(local) as client, tempfile.TemporaryDirectory() as out:
        submit = client.submit

        def counted(*args: Any, **options: Any) -> Any:
            future = submit(*args, **options)
            future.add_done_callback(lambda done: seconds.append(done.result()[1]))
            return future

        seconds: list[float] = []
        client.submit = counted
        began = time.monotonic()
        folder = Sweep(what, out, (Path(out) / "dataset", "overhead"), "sim", None, None)
        choices = (what, "sim", None, None)
        sweeps._run_there(client, folder.keep, choices, folder.pending(), lambda done: None, run_part)
        took, spent = time.monotonic() - began, sum(seconds)
    print(f"{took:.1f} s, of which {spent:.1f} s computing in {len(seconds)} tasks: {100 * (took / spent - 1):.1f} % overhead")


class _Kept:
    """A folder that keeps nothing."""

    runs = 0

    def keep(self, lines: list[Any]) -> None:
        self.runs += len(lines)


def _nothing(choices: Any, indices: list[int], identity: Any, part: Any = None) -> tuple[list[Any], float]:
    # As long as 100 ms for each run, so that tasks are as large as in earnest.
    return [(index, "", "") for index in indices], 0.1 * len(indices)


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory() -> None:
    setattr(sweeps, "_task", _nothing)
    kept: Any = _Kept()
    with cluster(2) as local, Client(local) as client:
        # The scheduler is in this process, and so is the client: both are counted.
        before, most = _resident_mb(), 0.0

        def look(done: int) -> None:
            nonlocal most
            most = max(most, _resident_mb())

        began = time.monotonic()
        choices = (scenario(2, 1), "sim", None, None)
        sweeps._run_there(client, kept.keep, choices, list(range(1_000_000)), look, run_part)
        print(f"{kept.runs} runs in {time.monotonic() - began:.0f} s: {before:.0f} MB before, {most:.0f} MB at most")


if __name__ == "__main__":
    {"speed": speed, "overhead": overhead, "memory": memory}[sys.argv[1]]()
