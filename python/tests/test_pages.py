"""Every line of Python, and every line of a shell that is about Python or SQL, of README and book runs as it is printed.

Each page runs in a folder of its own, its blocks one after the other in one module. What a reader has before (a sweep's folder, a grid)
is made first. What a reader puts in place of an example (an address, the size of a cluster) is listed here.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "docs" / "src"
PYPROJECT = (ROOT / "python" / "pyproject.toml").read_text()
PAGES = [ROOT / "README.md", ROOT / "python" / "README.md", *sorted(BOOK.rglob("*.md"))]

GRID = """
name = "a grid"
duration = "2 s"
link = { rate = "5 Mbit/s", buffer = "50 packets" }
flow = { name = "a", controller = "cubic", rtt = "20 ms" }
sweep."link.rate" = ["2 Mbit/s", "4 Mbit/s"]
"""


@dataclass(frozen=True)
class Block:
    page: str
    """The path below the project."""
    language: str
    text: str
    line: int

    @property
    def at(self) -> str:
        return f"{self.page}:{self.line}"


def blocks_of(path: Path) -> Iterator[Block]:
    text = path.read_text()
    for found in re.finditer(r"^```(\w+)[^\n]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        line = text.count("\n", 0, found.start(2)) + 1
        yield Block(str(path.relative_to(ROOT)), found[1], found[2], line)


BLOCKS = [block for path in PAGES for block in blocks_of(path)]


def python_of(page: str) -> list[Block]:
    return [block for block in BLOCKS if (block.page, block.language) == (page, "python")]


def shell_lines(word: str) -> list[tuple[str, str]]:
    """Where each line of a shell is that has this word, and the line."""
    found = []
    for block in BLOCKS:
        if block.language == "sh":
            lines = enumerate(block.text.splitlines(), block.line)
            found += [(f"{block.page}:{number}", line) for number, line in lines if re.search(rf"\b{word}\b", line)]
    return found


def lines_of_pip() -> list[tuple[str, str]]:
    """The same of pip, in sentences and tables, too."""
    found = shell_lines("pip")
    for path in PAGES:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found += [(f"{path.relative_to(ROOT)}:{number}", span) for span in re.findall(r"`(pip install [^`]+)`", line)]
    return found


def run(block: Block, module: types.ModuleType, replaced: dict[str, str]) -> Any:
    """Executes a block, and returns what its last line stands for, as a notebook would show it."""
    text = block.text
    for old, new in replaced.items():
        text = text.replace(old, new)
    tree = ast.parse(text, block.at)
    # Errors have the page and its line.
    ast.increment_lineno(tree, block.line - 1)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None  # type: ignore[attr-defined]
    exec(compile(tree, block.page, "exec"), module.__dict__)
    return eval(compile(last, block.page, "eval"), module.__dict__) if last else None


def run_page(page: str, replaced: dict[str, str] | None = None) -> tuple[types.ModuleType, list[Any]]:
    blocks = python_of(page)
    assert blocks, f"{page} has no Python any more: take it out of this file"
    # Pickles of a page's classes find them here.
    module = types.ModuleType("page_of_the_book")
    return module, [run(block, module, replaced or {}) for block in blocks]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of a reader: it has the scenarios of the checkout, and a grid."""
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    (tmp_path / "grid.toml").write_text(GRID)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*words: str) -> str:
    ran = subprocess.run([sys.executable, "-m", "afteryou", *words], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


RUN_HERE = {
    "README.md",
    "python/README.md",
    "docs/src/background.md",
    "docs/src/cluster.md",
    "docs/src/python.md",
    "docs/src/python-rules.md",
    "docs/src/results.md",
    "docs/src/sweeps.md",
}


def test_no_page_with_python_is_left_out() -> None:
    assert {block.page for block in BLOCKS if block.language in ("python", "py", "sql", "pycon")} <= RUN_HERE
    assert {place.split(":")[0] for word in ("pip", "duckdb", "dask") for place, _ in shell_lines(word)} <= RUN_HERE


def test_the_readme_of_the_package_draws_a_figure(place: Path) -> None:
    run_page("python/README.md")
    assert (place / "figure.svg").read_text().startswith("<svg")


def test_the_page_about_python_runs_and_so_does_every_call_of_its_tables(place: Path) -> None:
    pytest.importorskip("gymnasium")
    module, (flows, order, _) = run_page("docs/src/python.md")
    assert {"flow", "window", "goodput_bit_s"} == set(flows.columns) and len(flows) > 0
    assert len(order) == 2 and (place / "league" / "index.html").exists()
    # After the page's own blocks, what its tables speak of.
    exec("from afteryou import *\nimport polars, pyarrow, duckdb", module.__dict__)
    path = "scenarios/home-uplink.toml"
    names = {"path": path, "source": Path(path).read_text(), "file": "grid.toml", "out": str(place / "out")}
    module.__dict__.update(names, flows=module.__dict__["result"].flows)
    (place / "result").mkdir()
    module.__dict__["result"].save("result")
    rows = re.findall(r"^\|(.*)\|$", (BOOK / "python.md").read_text(), re.MULTILINE)
    calls = [call for row in rows for call in re.findall(r"`(@?[\w.]+\([^`]*)`", row)]
    assert len(calls) >= 15
    for call in calls:
        if call.startswith("@"):
            exec(f"{call}\nclass OfTheTable:\n    def __init__(self, mss): self.cwnd = mss", module.__dict__)
            continue
        module.__dict__["path"] = "result" if call.startswith("Result") else path
        assert eval(call.replace('"name"', '"of the table"'), module.__dict__) is not None, call
    assert {"windows", "sets", "comparison", "queues", "series"} <= set(dir(module.__dict__["result"]))


def test_the_page_about_sockets_sends_to_a_server(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    received: list[int] = []

    def receive(server: socket.socket) -> None:
        for _ in python_of("docs/src/background.md"):
            connection, _ = server.accept()
            with connection:
                received.append(sum(len(part) for part in iter(lambda: connection.recv(1 << 16), b"")))

    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        receiver = threading.Thread(target=receive, args=(server,))
        receiver.start()
        run_page("docs/src/background.md", {'"192.0.2.1", 9000': f'"{host}", {port}'})
        receiver.join()
    assert received == [9_000_000, 9_000_000]
    assert "marked LE" in capsys.readouterr().out


def test_the_rule_of_the_book_runs_and_yields(place: Path) -> None:
    module, _ = run_page("docs/src/python-rules.md")
    result = module.__dict__["result"]
    goodput = {(row["flow"], row["window"]): row["goodput_bit_s"] for row in result.flows.to_dicts()}
    assert goodput["upload", "together"] > 3 * goodput["mine", "together"]
    assert goodput["mine", "alone again"] > 10e6


def test_the_page_about_sweeps_reads_the_folder_of_its_command(place: Path) -> None:
    (sim,) = (line for _, line in shell_lines("rates-and-delays.toml") if line.endswith("--out rates"))
    _, *words = shlex.split(sim)
    command(*words, "--set", "duration=4 s", "--set", "repeat=1", "--no-series", *UNMEASURED)
    _, (means,) = run_page("docs/src/sweeps.md")
    assert len(means) > 1 and (means > 0).all()


# Windows of the scenario that a shorter run does not have.
UNMEASURED = ["--set", 'measure="none"']


def test_the_page_about_results_asks_duckdb(place: Path) -> None:
    ((_, line),) = shell_lines("duckdb")
    program, option, question = shlex.split(line)
    assert (program, option) == ("duckdb", "-c")
    (sim,) = (line for at, line in shell_lines("rtt-sweep.toml") if at.startswith("docs/src/results.md"))
    command(*shlex.split(sim)[1:], "--set", "duration=4 s", "--set", "repeat=1", "--no-series", *UNMEASURED)
    answer = duckdb.sql(question)
    assert answer is not None
    rows = answer.fetchall()
    assert {flow for flow, _ in rows} == {"backup", "upload"} and sum(goodput for _, goodput in rows) > 0


@pytest.mark.parametrize(("at", "line"), [pytest.param(at, line, id=at) for at, line in lines_of_pip()])
def test_what_pip_is_to_install_is_there_with_its_extra(at: str, line: str) -> None:
    program, install, what, *more = shlex.split(line, comments=True)
    # It is on no index.
    assert (program, install, more) == ("pip", "install", []) and what.startswith("./python"), f"{at}: {line}"
    found = re.fullmatch(r"\./python(?:\[(\w+)\])?", what)
    assert found, f"{at}: {what}"
    extras = PYPROJECT.split("[project.optional-dependencies]")[1].split("\n[")[0]
    assert found[1] is None or re.search(rf"^{found[1]} = \[", extras, re.MULTILINE), f"{at}: no extra {found[1]}"
    if "AFTERYOU_PIP" not in os.environ:
        # pip has cargo read the manifests of every dependency, for every platform, which takes a network.
        return
    words = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-build-isolation", what]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, f"{at}: {ran.stdout}{ran.stderr}"
    assert "Would install afteryou" in ran.stdout and "does not provide the extra" not in ran.stdout + ran.stderr, at


# A cluster of two processes here, in place of the example's.
SCHEDULER = "tcp://192.0.2.1:8786"


@pytest.fixture
def scheduler() -> Iterator[str]:
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SLURM's commands: a job runs here, at once."""
    bin_, jobs = tmp_path / "bin", tmp_path / "jobs"
    bin_.mkdir()
    jobs.mkdir()
    # As sbatch does: the script is removed when it returns.
    copied = f'cp "$1" {jobs}/script\nsetsid sh {jobs}/script'
    sbatch = f'#!/bin/sh\n{copied} >{jobs}/out 2>&1 </dev/null &\necho $! >{jobs}/$!\necho "Submitted batch job $!"\n'
    scancel = f'#!/bin/sh\nfor job; do [ -f {jobs}/$job ] && kill -- -$job; rm -f {jobs}/$job; done\nexit 0\n'
    for name, text in (("sbatch", sbatch), ("scancel", scancel)):
        (bin_ / name).write_text(text)
        (bin_ / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_}:{os.environ['PATH']}")


def no_worker(*_: object) -> None:
    raise TimeoutError("no worker came")


def test_the_page_about_clusters_runs_on_one(place: Path, scheduler: str, queue: None) -> None:
    distributed = pytest.importorskip("distributed")
    pytest.importorskip("dask_jobqueue")
    (swept,) = (line for _, line in shell_lines("dask") if line.startswith("afteryou sweep") and SCHEDULER in line)
    shown = command(*shlex.split(swept.replace(SCHEDULER, scheduler))[1:])
    assert "2 runs, 2 of them computed now" in shown
    smaller = {"cores=16, processes=16": "cores=1, processes=1", 'memory="16 GB"': 'memory="1 GB"', "jobs=8": "jobs=1"}
    here, counts, slurm = python_of("docs/src/cluster.md")
    module = types.ModuleType("page_of_the_book")
    run(here, module, {SCHEDULER: scheduler})
    assert list(run(counts, module, {}).iter_rows()) == [("grid", 2)]
    # A sweep of its own, so that the workers have something to do.
    Path("grid.toml").write_text(GRID.replace("cubic", "newreno"))
    assert all(old in slurm.text for old in smaller)
    try:
        # Without a worker the sweep would wait indefinitely.
        signal.signal(signal.SIGALRM, no_worker)
        signal.alarm(300)
        run(slurm, module, {**smaller, 'out="results"': 'out="by-jobs"'})
        assert (place / "by-jobs" / "runs.csv").read_text().count("\n") == 3
    finally:
        signal.alarm(0)
        # The page leaves that to the end of its programs.
        for client in list(distributed.Client._instances):
            client.close()
        if "cluster" in module.__dict__:
            module.__dict__["cluster"].close()
