"""The tutorial notebook. The pages of the book are in `test_pages.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

PYTHON = Path(__file__).parents[1]


def test_the_tutorial_runs_from_beginning_to_end(tmp_path: Path) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("matplotlib")
    notebook = nbformat.read(PYTHON / "tutorial.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
    assert any("<svg" in output["data"].get("text/html", "") for output in shown)
    assert (tmp_path / "upload.pdf").read_bytes().startswith(b"%PDF")
