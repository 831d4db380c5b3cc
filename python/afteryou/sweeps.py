"""Sweeps on the cores of this machine, or on a Dask cluster.

The folder is that of ``afteryou sim FILE --out DIR --no-series --parquet``: ``journal`` has a line for each finished run, under a
key made of the build, the scenario and the seed. A sweep that was interrupted continues in its folder, wherever it ran before,
and no run that is there is computed again. The tables ``runs``, ``flows`` and, where a scenario has several, ``links`` and
``sets`` appear as CSV and as Parquet when the last run has ended.

``out/dataset`` has the same rows while the sweep goes on, partitioned by scenario file: each run is there 30 s after its end.
``polars.read_parquet("out/dataset/runs")`` reads the runs of all files, with a column ``scenario``.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from afteryou._afteryou import Scenario, __version__, build, run_part
from afteryou._afteryou import Sweep as _Folder
from afteryou.errors import Error

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Swept", "sweep"]

TASK_S = 20.0
"""Aimed duration of a task. Shorter ones would burden the scheduler, longer ones are dear to lose."""
QUEUED = 2
"""Tasks for each thread of the cluster, one of them running: so the scheduler's memory does not grow with the sweep."""
RETRIES = 10
"""Times that a task is tried again after its worker was lost or failed."""

Progress = Callable[[int, int], None]
Line = tuple[int, str, str]


@dataclass(frozen=True)
class Swept:
    """The folder of a sweep that is complete."""

    folder: Path
    runs: int
    """Runs in the folder."""
    computed: int
    """Runs of this call; the others were there."""
    page: Path
    """The page of all runs."""
    dataset: Path
    """A folder for each table, partitioned by scenario file; several files share it."""

    @property
    def tables(self) -> dict[str, Path]:
        """The Parquet files by name: "runs", "flows", and "links" and "sets" where there are any."""
        return {path.stem: path for path in sorted(self.folder.glob("*.parquet"))}


def sweep(
    file: str | os.PathLike[str] | Scenario | Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    client: Client | None = None,
    *,
    engine: str = "sim",
    seed: int | None = None,
    repeat: int | None = None,
    threads: int | None = None,
    progress: bool | Progress = True,
) -> list[Swept]:
    """Computes every run that a scenario file asks for and ``out`` does not have.

    file: a scenario, a file, or several files; each of several has its own folder in ``out``, by the name of the file.
    client: a ``distributed.Client``; without one all cores of this machine are used. With one, a file may name files below its own
        folder only, symbolic links resolved: their contents travel to the workers, which open none.
    engine, seed, repeat: as on the command line.
    threads: most runs at the same time without a client.
    progress: a function of the finished runs and of all runs, True for a line on stderr, or False.

    Returns a ``Swept`` for each file.
    """
    if client is not None:
        _check_workers(client)
    swept, dataset = [], Path(out) / "dataset"
    for name, scenario, folder in _folders(file, Path(out), untrusted=client is not None):
        sweep_ = _Folder(scenario, folder, (dataset, quote(name, safe="")), engine, seed, repeat)
        pending = sweep_.pending()
        there = sweep_.runs - len(pending)
        report = _report(progress, folder.name, sweep_.runs, there)
        if client is None:
            sweep_.run_here(threads, report)
        else:
            _run_there(client, sweep_.keep, (scenario, engine, seed, repeat), pending, report, run_part)
        report(len(pending))
        swept.append(Swept(folder, sweep_.runs, len(pending), sweep_.finish(), dataset))
    return swept


def _folders(
    file: str | os.PathLike[str] | Scenario | Sequence[str | os.PathLike[str]], out: Path, *, untrusted: bool
) -> Iterator[tuple[str, Scenario, Path]]:
    """Yields the name of each scenario, the scenario and its folder."""
    if isinstance(file, Scenario):
        return iter([(file.name, file, out)])
    if isinstance(file, (str, os.PathLike)):
        return iter([(Path(file).stem, Scenario.load(file, untrusted=untrusted), out)])
    paths = [Path(path) for path in file]
    stems = [path.stem for path in paths]
    twice = sorted({stem for stem in stems if stems.count(stem) > 1})
    if twice:
        raise Error(f"two files are named {twice[0]!r}, and each has a folder by its name: rename one")
    # Everything is read before anything runs.
    return iter([(path.stem, Scenario.load(path, untrusted=untrusted), out / path.stem) for path in paths])


def _report(progress: bool | Progress, name: str, runs: int, there: int) -> Callable[[int], None]:
    if callable(progress):
        given = progress
        return lambda done: given(there + done, runs)
    if not progress:
        return lambda done: None
    began = time.monotonic()

    def line(done: int) -> None:
        rate = done / max(time.monotonic() - began, 1e-9)
        left = f", {(runs - there - done) / rate:.0f} s left" if 0 < done < runs - there else ""
        end = "\n" if there + done == runs else ""
        print(f"\r{name}: {there + done} of {runs} runs{left}      ", end=end, file=sys.stderr, flush=True)

    return line


# On the cluster


def _identity() -> tuple[str, str]:
    return __version__, build()


def _check_workers(client: Client) -> None:
    """Refuses a worker with another build: keys would name other results."""
    ours = _identity()
    for address, theirs in client.run(_identity, on_error="return").items():
        if isinstance(theirs, Exception):
            raise Error(f"the worker {address} has no afteryou {ours[0]}: install the same wheel there ({theirs})")
        _check_build(address, theirs, ours)


def _check_build(place: str, theirs: tuple[str, str], ours: tuple[str, str]) -> None:
    if theirs != ours:
        raise Error(
            f"the worker {place} has afteryou {theirs[0]}, build {theirs[1][:12]}, and the client {ours[0]}, "
            f"build {ours[1][:12]}: install the same wheel on both"
        )


Part = Callable[..., "list[Line]"]
"""Computes runs with some choices and indices."""


def _task(
    choices: tuple[Any, ...], indices: list[int], of_client: tuple[str, str], part: Part = run_part
) -> tuple[list[Line], float]:
    """Computes runs on a worker; returns their lines and the seconds that they took."""
    # A worker may have joined after the check of all.
    _check_build(os.uname().nodename if hasattr(os, "uname") else "there", _identity(), of_client)
    began = time.monotonic()
    lines = part(*choices, indices)
    return lines, time.monotonic() - began


def _run_there(
    client: Client,
    keep: Callable[[list[Line]], None],
    choices: tuple[Any, ...],
    pending: list[int],
    report: Callable[[int], None],
    part: Part,
) -> None:
    from distributed import as_completed

    identity, done, place = _identity(), 0, 0
    run_s: float | None = None
    tasks: Any = as_completed(with_results=True)

    def submit() -> bool:
        nonlocal place
        left = len(pending) - place
        if left == 0:
            return False
        threads = max(sum(client.nthreads().values()), 1)
        # The first tasks are single runs, which show how long a run takes; the last ones are short, so that all end together.
        most = 1 if run_s is None else int(TASK_S / max(run_s, 1e-6))
        size = max(1, min(most, left // (QUEUED * threads)))
        indices = pending[place : place + size]
        place += size
        tasks.add(client.submit(_task, choices, indices, identity, part, pure=False, retries=RETRIES))
        return True

    def fill() -> None:
        while tasks.count() < QUEUED * max(sum(client.nthreads().values()), 1) and submit():
            pass

    try:
        fill()
        for future, (lines, seconds) in tasks:
            keep(lines)
            future.release()
            done += len(lines)
            latest = seconds / len(lines)
            run_s = latest if run_s is None else 0.7 * run_s + 0.3 * latest
            report(done)
            fill()
    finally:
        client.cancel([future for future in list(tasks.futures)])
