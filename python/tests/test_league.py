"""The league of background controllers, with rules written in Python among them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import afteryou
from afteryou import Ack, League

EVERY = 40
"""One cell in so many of the quick grid: five."""


class Window:
    """A fixed window."""

    cwnd: float

    def __init__(self, mss: int) -> None:
        self.cwnd = 4.0 * mss

    def on_ack(self, ack: Ack) -> None: ...


def played(*names: str, **options: Any) -> League:
    return afteryou.league(names, **({"every": EVERY, "progress": False} | options))


def runs(league: League, name: str) -> list[dict[str, Any]]:
    return [row for row in league.cells.to_dicts() if row["controller"] == name]


def standing(league: League, name: str) -> dict[str, Any]:
    (row,) = (row for row in league.order.to_dicts() if row["controller"] == name)
    return row


def files(league: League, folder: Path) -> dict[str, bytes]:
    league.write(folder)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def both() -> League:
    """A league of two built-in controllers."""
    return played("ledbat++", "ledbat,target=25ms")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def test_the_order_has_a_score_for_each_goal_and_every_cell_is_a_row(both: League) -> None:
    order, cells = both.order.to_dicts(), both.cells.to_dicts()
    assert {row["controller"] for row in order} == {"ledbat++", "ledbat,target=25ms"}
    assert order[0]["score"] >= order[1]["score"]
    assert both.order.column_names[:3] == ["controller", "score", "error"]
    assert {"kept", "harvest", "alone", "failed"} <= set(both.order.column_names)
    assert all(0 <= row["score"] <= 1 and row["failed"] == 0 for row in order)
    assert len(cells) == 10 and len({row["cell"] for row in cells}) == 5
    assert both.warnings == []


def test_the_folder_has_the_page_and_the_tables(both: League, tmp_path: Path) -> None:
    assert both.write(tmp_path / "league") == tmp_path / "league" / "index.html"
    page = (tmp_path / "league" / "index.html").read_text()
    assert f'afteryou.league([&quot;ledbat++&quot;' in page or 'afteryou.league(["ledbat++"' in page
    standings = (tmp_path / "league" / "standings.csv").read_text().splitlines()
    assert len(standings) == 3 and f"{both.order.to_dicts()[0]['score']:.3f}".rstrip("0") in standings[1]
    with pytest.raises(afteryou.Error, match="/proc/nowhere"):
        played("ledbat++", out="/proc/nowhere")


def test_slices_have_a_row_for_each_controller_and_probing_cells_change_no_score(both: League, tmp_path: Path) -> None:
    sliced = played("ledbat++", "ledbat,target=25ms", slices=True)
    assert both.slices is None and sliced.slices is not None
    rows = sliced.slices.to_dicts()
    assert len(rows) == 40 and {row["controller"] for row in rows} == {"ledbat++", "ledbat,target=25ms"}
    assert sum(row["probing_cells"] for row in rows) > 0
    assert sliced.order.to_dicts() == both.order.to_dicts() and sliced.cells.to_dicts() == both.cells.to_dicts()
    assert "slices.csv" in files(sliced, tmp_path / "sliced")


def test_a_cluster_plays_the_same_league_to_the_last_bit(both: League, client: Any, tmp_path: Path) -> None:
    afteryou.rule("league-window")(Window)
    there = played("ledbat++", "ledbat,target=25ms", client=client)
    assert files(there, tmp_path / "there") == files(both, tmp_path / "here")
    # Rules are played on this machine.
    mixed = played("league-window", "ledbat++", client=client)
    assert runs(mixed, "ledbat++") == runs(both, "ledbat++")
    assert runs(mixed, "league-window") == runs(played("league-window"), "league-window")


def test_a_cache_has_built_in_controllers_and_no_rule(tmp_path: Path) -> None:
    made = []

    @afteryou.rule("league-counted")
    class Counted(Window):
        def __init__(self, mss: int) -> None:
            super().__init__(mss)
            made.append(self)

    seen: list[list[tuple[int, int]]] = []
    leagues = []
    for _ in range(2):
        seen.append([])
        made.clear()
        reports = seen[-1]
        options = {"cache": tmp_path, "progress": lambda done, runs: reports.append((done, runs))}
        leagues.append(played("ledbat++", "league-counted", **options))
        assert len(made) >= 5
    assert files(leagues[0], tmp_path / "0") == files(leagues[1], tmp_path / "1")
    assert all(reports == sorted(reports) and reports[-1][0] == reports[-1][1] for reports in seen)
    # Five cells of the rule are all that the second league plays.
    assert seen[1][0][0] >= seen[1][0][1] - 5


def test_a_rule_takes_part_by_its_name_and_the_time_is_said_first(capfd: pytest.CaptureFixture[str]) -> None:
    @afteryou.rule("league-packets")
    class Packets(Window):
        parameters = {"packets": 4.0}

        def __init__(self, mss: int, packets: float) -> None:
            self.cwnd = packets * mss

    league = played("league-packets", "league-packets,packets=40", progress=True)
    said = capfd.readouterr().err
    assert said.startswith("league: rules written in Python take about ") and "of" in said
    few, many = (standing(league, name) for name in ("league-packets", "league-packets,packets=40"))
    assert few["failed"] == many["failed"] == 0
    assert few["alone"] < many["alone"] and few["kept"] > many["kept"]
    assert runs(league, "league-packets") == runs(played("league-packets"), "league-packets")


def test_a_rule_that_raises_fails_in_its_cells_alone(both: League) -> None:
    @afteryou.rule("league-raises")
    class Raises(Window):
        def on_ack(self, ack: Ack) -> None:
            if ack.now_s > 1:
                raise ZeroDivisionError("of course")

    @afteryou.rule("league-makes-none")
    class MakesNone(Window):
        def __init__(self, mss: int) -> None:
            raise LookupError("not today")

    league = played("league-raises", "league-makes-none", "ledbat++")
    raised = runs(league, "league-raises")
    assert all('"league-raises" raised ZeroDivisionError in on_ack at ' in row["failure"] for row in raised)
    assert all(row["failure"].endswith("of course") for row in raised)
    assert all("LookupError in __init__: not today" in row["failure"] for row in runs(league, "league-makes-none"))
    assert standing(league, "league-raises")["failed"] == 5 and standing(league, "league-raises")["score"] == 0
    assert [row["kept"] for row in runs(league, "ledbat++")] == [row["kept"] for row in runs(both, "ledbat++")]


def test_a_window_that_runs_away_ends_and_costs() -> None:
    @afteryou.rule("league-runs-away")
    class RunsAway(Window):
        def on_ack(self, ack: Ack) -> None:
            self.cwnd = min(2 * self.cwnd, 1e15)

    @afteryou.rule("league-beyond")
    class Beyond(Window):
        def on_ack(self, ack: Ack) -> None:
            self.cwnd *= 2

    league = played("league-runs-away", "league-beyond", "ledbat++")
    away, good = standing(league, "league-runs-away"), standing(league, "ledbat++")
    assert away["failed"] == 0 and away["kept"] < good["kept"] and away["score"] < good["score"]
    beyond = [row for row in runs(league, "league-beyond") if row["failure"] is not None]
    assert beyond and all("cwnd is" in row["failure"] for row in beyond)


HANGS = f"""
import afteryou, json, os, signal, sys, threading, time

@afteryou.rule("hangs")
class Hangs:
    cwnd = 6000
    def __init__(self, mss): self.acks = 0
    def on_ack(self, ack):
        self.acks += 1
        while self.acks > 50: pass

def played(**options):
    return afteryou.league(["hangs", "ledbat++"], every={EVERY}, progress=False, **options)

signal.signal(signal.SIGINT, signal.default_int_handler)
"""


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", HANGS + code], capture_output=True, text=True, timeout=120)


def test_a_rule_that_never_returns_is_given_up_and_the_interpreter_survives(both: League) -> None:
    ended = python(
        """
league = played(patience=3)
rows = league.cells.to_dicts()
print(json.dumps([row["failure"] for row in rows if row["controller"] == "hangs"]))
print(json.dumps([row["kept"] for row in rows if row["controller"] == "ledbat++"]))
# No loop is left that takes processor time.
before = time.process_time()
time.sleep(1)
print(json.dumps(time.process_time() - before < 0.5))
"""
    )
    assert ended.returncode == 0, ended.stderr
    failures, kept, calm = map(json.loads, ended.stdout.splitlines())
    assert sum("did not return for 3 s" in failure for failure in failures) == 3
    assert sum("not tried" in failure for failure in failures) == 2
    assert kept == [row["kept"] for row in runs(both, "ledbat++")] and calm


@pytest.mark.parametrize("names", [["ledbat++"], ["hangs"]])
def test_ctrl_c_ends_a_league_within_a_moment(names: list[str]) -> None:
    ended = python(
        f"""
def interrupt():
    global at
    time.sleep(1)
    at = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    afteryou.league({names}, progress=False)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - at < 3)
"""
    )
    assert (ended.returncode, ended.stdout) == (0, "interrupted True\n"), ended.stderr


def test_wrong_choices_are_refused_with_what_to_do() -> None:
    afteryou.rule("league-window")(Window)
    with pytest.raises(afteryou.ScenarioError, match="did you mean") as error:
        played("ledbatt")
    assert error.value.suggestion == "ledbat"
    with pytest.raises(afteryou.ScenarioError, match="twice"):
        played("ledbat", "ledbat")
    with pytest.raises(ValueError, match='"train" or "hold"'):
        played("ledbat", set="test")
    with pytest.raises(ValueError, match="every is 0"):
        played("ledbat", every=0)
    with pytest.raises(ValueError, match="patience"):
        played("ledbat", patience=0)
    with pytest.raises(ValueError, match='"sim" or "bed"'):
        played("ledbat", engine="fluid")
    with pytest.raises(ValueError, match="use quick=True"):
        played("league-window", quick=False)
    with pytest.raises(ValueError, match='not in "bed"'):
        played("league-window", engine="bed")


def test_without_names_every_built_in_background_controller_takes_part() -> None:
    afteryou.rule("league-window")(Window)
    names = {row["controller"] for row in afteryou.league(every=200, progress=False).order.to_dicts()}
    assert "ledbat++" in names and not {"cubic", "steered", "league-window"} & names
