"""The tutorial notebook, and the examples of README and book."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import afteryou

PYTHON = Path(__file__).parents[1]
BOOK = PYTHON.parent / "docs" / "src"


def blocks(path: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", path.read_text(), re.DOTALL | re.MULTILINE)


def test_the_tutorial_runs_from_beginning_to_end(tmp_path: Path) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("matplotlib")
    notebook = nbformat.read(PYTHON / "tutorial.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
    assert any("<svg" in output["data"].get("text/html", "") for output in shown)
    assert (tmp_path / "upload.pdf").read_bytes().startswith(b"%PDF")


def test_the_readme_draws_a_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scenarios").symlink_to(PYTHON.parent / "scenarios")
    monkeypatch.chdir(tmp_path)
    (five_lines,) = blocks(PYTHON / "README.md")
    exec(five_lines, {})
    assert (tmp_path / "figure.svg").read_text().startswith("<svg")


def test_the_rule_of_the_book_runs_and_yields() -> None:
    rule, experiment = blocks(BOOK / "python-rules.md")
    names: dict[str, object] = {}
    exec(rule, names)
    exec(experiment, names)
    result = names["result"]
    assert isinstance(result, afteryou.Result)
    goodput = {(row["flow"], row["window"]): row["goodput_bit_s"] for row in result.flows.to_dicts()}
    assert goodput["upload", "together"] > 3 * goodput["mine", "together"]
    assert goodput["mine", "alone again"] > 10e6
