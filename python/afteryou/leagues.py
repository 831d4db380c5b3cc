"""The league of background controllers, on the cores of this machine or on a Dask cluster.

>>> league = afteryou.league(["ledbat++", "ledbat,target=25ms"])
>>> league.order.to_pandas()[["controller", "score", "error"]]
>>> league.write("league")

Every controller runs in every cell of a grid of drawn networks, and each cell runs once without a background. Goals with bounds judge
the runs, as ``afteryou league`` does. The same choices give the same numbers to the last bit, wherever the runs are made.

A rule written in Python takes part by its name, in the quick grid. Its cells run on this machine and are never kept in a cache, since its
code is not in their keys. A cell in which it raises an exception, or does not return, fails with the score 0; other cells go on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from afteryou._afteryou import League, background, league_part
from afteryou._afteryou import Season as _Season
from afteryou.sweeps import Line, Progress, _check_workers, _report, _run_there

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["League", "league"]


def league(
    controllers: str | Sequence[str] | None = None,
    *,
    quick: bool = True,
    set: str = "train",
    grid_seed: int = 1,
    every: int = 1,
    engine: str = "sim",
    slices: bool = False,
    patience: float = 30.0,
    cache: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    client: Client | None = None,
    threads: int | None = None,
    progress: bool | Progress = True,
) -> League:
    """Plays and judges a league of background controllers.

    controllers: names, "name,parameter=value" or rules by their names; None for all background controllers that are built in.
    quick: 200 cells of up to 50 Mbit/s and 40 s, or 1200 cells of up to 500 Mbit/s, which take hours.
    set: "train", for those who design a rule, or "hold", to judge one whose design is finished.
    grid_seed: other values of the same strata.
    every: the step between the cells that are run, for a first look.
    engine: "sim"; or "bed", real packets in real time, which requires root.
    slices: also 144 probing cells, for ``League.slices``: means over cells of one kind, with bounds.
    patience: seconds without a sign of life after which a run is given up.
    cache: a folder that keeps the figures of runs. An interrupted league continues there.
    out: a folder for the page, as ``League.write``.
    client: a ``distributed.Client``; without one all cores of this machine are used.
    threads: most runs at the same time without a client.
    progress: a function of the finished runs and of all runs, True for lines on stderr, or False.
    """
    if every < 1:
        raise ValueError(f"every is {every}: write 1 for all cells, or 20 for one in 20")
    given = [controllers] if isinstance(controllers, str) else controllers
    names = background() if given is None else list(given)
    if client is not None:
        _check_workers(client)
    season = _Season((names, quick, set, grid_seed, every, engine, slices), patience, cache, out)
    _time_rules(season, progress)
    pending = season.pending(False)
    there = season.runs - len(pending) - len(season.pending(True))
    report, latest = _report(progress, "league", season.runs, there), -1

    def report_once(ended: int) -> None:
        nonlocal latest
        if ended > latest:
            latest = ended
            report(ended - there)

    if client is None:
        season.run_here(pending, threads, report_once)
    else:
        _run_there(
            client, season.keep, (season.choices, patience), pending, lambda done: report_once(there + done), _part
        )
    # One at a time: rules share the interpreter.
    season.run_here(season.pending(True), 1, report_once)
    report_once(season.runs)
    judged = season.finish()
    if out is not None:
        judged.write(out)
    return judged


def _part(choices: tuple[list[str], bool, str, int, int, str, bool], patience: float, indices: list[int]) -> list[Line]:
    return league_part(choices, patience, indices)


def _time_rules(season: _Season, progress: bool | Progress) -> None:
    """Says how long rules written in Python will take, after a few of their cells."""
    if not season.pending(True):
        return
    seconds = season.time_rules()
    if progress is not False:
        left = f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"
        print(f"league: rules written in Python take about {left}", file=sys.stderr, flush=True)
