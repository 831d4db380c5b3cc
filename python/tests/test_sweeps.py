"""Sweeps here and on a Dask cluster of this machine."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars
import pytest

import afteryou
from afteryou import Scenario, sweeps

distributed = pytest.importorskip("distributed")

FILE = """
name = "rates and seeds"
duration = "4 s"
repeat = 10
link = { rate = "5 Mbit/s", buffer = "50 packets" }
flow = { name = "a", controller = "cubic", rtt = "20 ms" }
sweep."link.rate" = ["2 Mbit/s", "4 Mbit/s", "6 Mbit/s", "8 Mbit/s"]
"""
TABLES = ("runs.csv", "flows.csv", "runs.parquet", "flows.parquet", "journal")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rates.toml"
    path.write_text(FILE)
    return path


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster) as client:
        yield client


def by_the_command(file: Path, out: Path) -> Path:
    words = ["sim", str(file), "--out", str(out), "--no-series", "--parquet"]
    subprocess.run([sys.executable, "-m", "afteryou", *words], check=True, capture_output=True)
    return out


def assert_same(one: Path, other: Path) -> None:
    for name in TABLES:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def test_a_sweep_here_has_the_tables_of_the_command_to_the_last_byte(file: Path, tmp_path: Path) -> None:
    (swept,) = afteryou.sweep(file, tmp_path / "out", progress=False)
    assert (swept.runs, swept.computed) == (40, 40)
    assert_same(by_the_command(file, tmp_path / "command"), swept.folder)
    assert len(polars.read_parquet(swept.tables["runs"])) == 40


def test_a_sweep_on_dask_has_them_too(file: Path, tmp_path: Path, client: Any) -> None:
    (swept,) = afteryou.sweep(file, tmp_path / "out", client, progress=False)
    assert swept.computed == 40
    assert_same(by_the_command(file, tmp_path / "command"), swept.folder)


def test_nothing_is_computed_twice(file: Path, tmp_path: Path, client: Any) -> None:
    out = by_the_command(file, tmp_path / "out")
    for where in (None, client):
        (swept,) = afteryou.sweep(file, out, where, progress=False)
        assert (swept.runs, swept.computed) == (40, 0)
    journal = (out / "journal").read_text().splitlines(keepends=True)
    (out / "journal").write_text("".join(journal[:30]))
    (swept,) = afteryou.sweep(file, out, client, progress=False)
    assert swept.computed == 10
    assert (out / "journal").read_text() == "".join(journal)


def test_the_dataset_has_each_run_once_wherever_the_sweep_was_interrupted(file: Path, tmp_path: Path, client: Any) -> None:
    out = by_the_command(file, tmp_path / "out")
    journal = (out / "journal").read_text().splitlines(keepends=True)
    (out / "journal").write_text("".join(journal[:30]))
    (swept,) = afteryou.sweep(file, out, client, progress=False)
    for table in ("runs", "flows"):
        parts = polars.read_parquet(swept.dataset / table).drop("scenario").sort("run")
        assert parts.equals(polars.read_parquet(swept.tables[table]))


def test_another_sweep_is_refused_in_a_folder(file: Path, tmp_path: Path) -> None:
    afteryou.sweep(file, tmp_path / "out", progress=False)
    with pytest.raises(afteryou.ScenarioError, match="another sweep"):
        afteryou.sweep(Scenario.load(file).set("duration", "5 s"), tmp_path / "out", progress=False)


def test_several_files_have_a_folder_each(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(FILE.replace("cubic", "newreno"))
    swept = afteryou.sweep([file, other], tmp_path / "out", progress=False)
    assert [part.folder.name for part in swept] == ["rates", "other"]
    runs = polars.read_parquet(swept[0].dataset / "runs")
    assert dict(runs["scenario"].value_counts().iter_rows()) == {"rates": 40, "other": 40}
    assert sorted(set(runs.filter(scenario="other")["run"])) == list(range(1, 41))
    with pytest.raises(afteryou.Error, match="rates"):
        afteryou.sweep([file, file], tmp_path / "out", progress=False)


def test_progress_counts_to_the_end(file: Path, tmp_path: Path, client: Any) -> None:
    for where in (None, client):
        seen: list[tuple[int, int]] = []
        out = tmp_path / str(where is None)
        afteryou.sweep(file, out, where, progress=lambda done, runs: seen.append((done, runs)))
        assert seen == sorted(seen) and seen[-1] == (40, 40)


def test_workers_killed_three_times_cost_only_their_tasks(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "TASK_S", 0.2)
    scenario = Scenario.load(file).set("duration", "200 s").set("repeat", "40")
    killed: list[int] = []
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:

        def kill(done: int, runs: int) -> None:
            if len(killed) < 3 and done > (1 + 2 * len(killed)) * runs // 8:
                pids = set(client.run(os.getpid, on_error="ignore").values()) - set(killed)
                killed.append(pids.pop())
                os.kill(killed[-1], signal.SIGKILL)

        (swept,) = afteryou.sweep(scenario, tmp_path / "out", client, progress=kill)
    assert len(killed) == 3 and swept.computed == 160
    runs = polars.read_parquet(swept.tables["runs"])
    assert runs["run"].to_list() == list(range(1, 161))
    (alone,) = afteryou.sweep(scenario, tmp_path / "alone", progress=False)
    assert_same(alone.folder, swept.folder)


def test_a_worker_with_another_build_is_named(file: Path, tmp_path: Path, client: Any) -> None:
    ours = sweeps._identity()
    with pytest.raises(afteryou.Error, match="install the same wheel on both"):
        sweeps._check_build("tcp://there:1", (ours[0], "0" * 64), ours)
    # A worker that joined later refuses the task itself.
    choices = (Scenario.load(file), "sim", None, None)
    with pytest.raises(afteryou.Error, match="install the same wheel on both"):
        client.submit(sweeps._task, choices, [0], (ours[0], "0" * 64)).result()


def test_ctrl_c_keeps_what_has_ended(file: Path, tmp_path: Path) -> None:
    code = f"""
import afteryou, os, signal
scenario = afteryou.Scenario.load({str(file)!r}).set("duration", "100 s").set("repeat", "1000")
def stop(done, runs):
    if done > 10: os.kill(os.getpid(), signal.SIGINT)
try:
    afteryou.sweep(scenario, {str(tmp_path / "out")!r}, progress=stop)
except KeyboardInterrupt:
    print("interrupted")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.stdout == "interrupted\n", ended.stderr
    assert (tmp_path / "out" / "journal").read_text().count("\n") > 10
    assert not (tmp_path / "out" / "runs.parquet").exists()


def test_a_folder_that_cannot_be_made_is_named(file: Path) -> None:
    with pytest.raises(afteryou.Error, match="/proc/nowhere"):
        afteryou.sweep(file, "/proc/nowhere", progress=False)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of file sizes")
def test_a_full_disk_is_one_exception_and_the_sweep_goes_on_later(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    # A limit of file sizes stands for the disk.
    code = f"""
import afteryou, resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
try:
    afteryou.sweep({str(file)!r}, {str(out)!r}, progress=False)
except afteryou.Error as error:
    print(error)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "journal" in ended.stdout and "space on its disk" in ended.stdout, ended.stderr
    assert not list(out.glob("*.parquet")) and not list(out.glob("*.csv"))
    (swept,) = afteryou.sweep(file, out, progress=False)
    assert 0 < swept.computed < 40
    assert_same(by_the_command(file, tmp_path / "command"), out)


def test_a_rule_in_python_is_refused(tmp_path: Path) -> None:
    @afteryou.rule("swept")
    class Swept:
        def __init__(self, mss: int) -> None:
            self.cwnd = 2 * mss

        def on_ack(self, ack: afteryou.Ack) -> None: ...

    with pytest.raises(ValueError, match="Python"):
        afteryou.sweep(Scenario(FILE.replace("cubic", "swept")), tmp_path / "out", progress=False)


def command(*words: str, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"AFTERYOU_PYTHON": python}
    called = [sys.executable, "-m", "afteryou", "sweep", *words]
    return subprocess.run(called, capture_output=True, text=True, env=environment)


def test_the_command_hands_over_to_this_package(file: Path, tmp_path: Path, cluster: Any) -> None:
    out = tmp_path / "out"
    ended = command(str(file), "--dask", cluster.scheduler_address, "--out", str(out))
    assert ended.returncode == 0 and "40 runs, 40 of them computed now" in ended.stdout, ended.stderr
    assert_same(by_the_command(file, tmp_path / "command"), out)
    (tmp_path / "wrong.toml").write_text("duration = ")
    wrong = command(str(tmp_path / "wrong.toml"), "--dask", cluster.scheduler_address, "--out", str(out))
    assert wrong.returncode == 2 and "wrong.toml" in wrong.stderr


def test_without_the_package_the_command_says_so_in_a_sentence(file: Path, tmp_path: Path) -> None:
    ended = command(str(file), "--dask", "tcp://127.0.0.1:1", "--out", str(tmp_path / "out"), python="no-python")
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1
    assert "pip" in ended.stderr and "no-python" in ended.stderr


@pytest.fixture
def apart(tmp_path: Path) -> Path:
    """A folder with a scenario that names a trace in a folder below, and the same trace beside that folder."""
    folder = tmp_path / "apart"
    (folder / "traces").mkdir(parents=True)
    for trace in (folder / "traces" / "rates.csv", tmp_path / "rates.csv"):
        trace.write_text("0,5 Mbit/s\n2,2 Mbit/s\n")
    for name, named in (("inside", "traces/rates.csv"), ("outside", "../rates.csv")):
        (folder / f"{name}.toml").write_text(one_run(named))
    return folder


def one_run(trace: str) -> str:
    link = f'{{ rate = {{ trace = "{trace}" }}, buffer = "50 packets" }}'
    return f'duration = "4 s"\nrepeat = 3\nlink = {link}\nflow = {{ name = "a", controller = "cubic", rtt = "20 ms" }}\n'


def test_workers_get_the_files_of_a_scenario_and_open_none(apart: Path, tmp_path: Path, client: Any) -> None:
    scenario = Scenario.load(apart / "inside.toml")
    (here,) = afteryou.sweep(scenario, tmp_path / "here", progress=False)
    # As on a worker with another file system.
    pickled = pickle.dumps(scenario)
    (apart / "traces" / "rates.csv").unlink()
    brought = pickle.loads(pickled)
    assert brought == scenario and pickle.loads(pickle.dumps(brought)) == scenario
    assert brought.set("seed", 1).runs == 3
    (there,) = afteryou.sweep(brought, tmp_path / "there", client, progress=False)
    assert (there.computed, (there.folder / "runs.csv").read_text()) == (3, (here.folder / "runs.csv").read_text())


def test_files_for_a_cluster_lie_below_the_folder_of_their_scenario(apart: Path, tmp_path: Path, client: Any) -> None:
    (swept,) = afteryou.sweep(apart / "inside.toml", tmp_path / "inside", client, progress=False)
    assert swept.computed == 3
    for files in (apart / "outside.toml", [apart / "inside.toml", apart / "outside.toml"]):
        with pytest.raises(afteryou.ScenarioError, match="may name no other"):
            afteryou.sweep(files, tmp_path / "outside", client, progress=False)
    with pytest.raises(afteryou.ScenarioError, match="may name no other"):
        Scenario.load(apart / "outside.toml", untrusted=True)
    assert Scenario.load(apart / "outside.toml").runs == 3
