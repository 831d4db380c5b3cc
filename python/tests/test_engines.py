"""Scenarios, runs, tables and errors."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pytest

import afteryou
from afteryou import Result, Scenario, ScenarioError

SCENARIOS = Path(__file__).parents[2] / "scenarios"
ONE_FLOW = {
    "name": "one flow",
    "duration": "4 s",
    "link": {"rate": "5 Mbit/s", "buffer": "50 packets"},
    "flow": [{"name": "a", "controller": "cubic", "rtt": "20 ms"}],
}


@pytest.fixture(scope="module")
def result() -> Result:
    return afteryou.run(Scenario.load(SCENARIOS / "home-uplink.toml"))


def test_a_dictionary_and_its_text_are_the_same_experiment() -> None:
    text = "name='one flow'\nduration='4 s'\nlink={rate='5 Mbit/s',buffer='50 packets'}\n"
    text += "flow={name='a',controller='cubic',rtt='20 ms'}\n"
    assert afteryou.run(Scenario(ONE_FLOW)).key == afteryou.run(Scenario(text)).key


def test_a_run_is_the_run_of_the_command_to_the_last_bit(tmp_path: Path, result: Result) -> None:
    words = ["sim", str(SCENARIOS / "home-uplink.toml"), "--out", str(tmp_path / "out")]
    subprocess.run([sys.executable, "-m", "afteryou", *words], check=True, capture_output=True)
    saved = Result.load(tmp_path / "out")
    assert saved == result
    assert saved.key == result.key


def test_a_saved_result_is_read_back(tmp_path: Path, result: Result) -> None:
    result.save(tmp_path)
    assert Result.load(tmp_path) == result
    assert Result.load(tmp_path / "result.json") == result
    with pytest.raises(afteryou.Error, match="nowhere"):
        Result.load(tmp_path / "nowhere")


def test_settings_are_replaced_in_a_copy() -> None:
    scenario = Scenario(ONE_FLOW)
    slower = scenario.set("link.rate", "2 Mbit/s").set("seed", 7)
    assert scenario.settings == [] and slower.settings == ["link.rate=2 Mbit/s", "seed=7"]
    goodput = [afteryou.run(s).flows.to_dicts()[0]["goodput_bit_s"] for s in (scenario, slower)]
    assert goodput[0] > 2 * goodput[1] > 3e6
    assert afteryou.run(slower).seed == 7 and afteryou.run(slower, seed=8).seed == 8


@pytest.mark.parametrize("engine", ["sim", "fluid"])
def test_both_engines_answer(engine: str) -> None:
    scenario = Scenario.load(SCENARIOS / "home-uplink.toml")
    assert afteryou.run(scenario, engine=engine).engine == engine


def test_scenarios_results_and_errors_pickle(result: Result) -> None:
    scenario = Scenario(ONE_FLOW).set("seed", 3)
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    assert pickle.loads(pickle.dumps(result)) == result
    with pytest.raises(ScenarioError) as error:
        scenario.set("link.rat", "1 Mbit/s")
    again = pickle.loads(pickle.dumps(error.value))
    assert (str(again), again.suggestion) == (str(error.value), "rate")


def test_a_scenario_that_names_other_files_is_read_beside_them() -> None:
    scenario = Scenario.load(SCENARIOS / "changing-rate.toml")
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    assert scenario.set("seed", 2).runs == scenario.runs


def test_a_wrong_key_has_line_column_and_suggestion() -> None:
    with pytest.raises(ScenarioError) as error:
        Scenario("duration='4 s'\nlink={rate='5 Mbit/s',bufer='9 packets'}\n")
    wrong = error.value
    assert (wrong.line, wrong.column, wrong.suggestion) == (2, 23, "buffer")
    assert "^^^^^" in str(wrong) and "^" not in wrong.message


@pytest.mark.parametrize(
    ("source", "exception"),
    [
        (3, TypeError),
        (["a"], TypeError),
        ({"duration": math.nan}, TypeError),
        ({"duration": "4 s", "link": {"rate": 5}}, ScenarioError),
        ({"duration": "-4 s"}, ScenarioError),
        ("duration = ", ScenarioError),
    ],
)
def test_wrong_input_raises_one_exception(source: Any, exception: type[Exception]) -> None:
    with pytest.raises(exception):
        Scenario(source)


def test_a_sweep_is_not_one_run() -> None:
    scenario = Scenario({**ONE_FLOW, "sweep": {"link.rate": ["1 Mbit/s", "2 Mbit/s"]}})
    assert scenario.runs == 2
    with pytest.raises(ValueError, match="2 runs"):
        afteryou.run(scenario)


def test_an_unknown_engine_and_an_unknown_format_are_named(result: Result) -> None:
    with pytest.raises(ScenarioError, match="sim"):
        afteryou.run(Scenario(ONE_FLOW), engine="simulator")
    with pytest.raises(ValueError, match="gif"):
        result.figure("gif")  # type: ignore[call-overload]


def test_every_reader_takes_the_same_numbers(result: Result) -> None:
    for table in (result.flows, result.windows, result.comparison, result.queues, result.series):
        arrow, frame = pyarrow.table(table), polars.DataFrame(table)
        assert arrow.num_rows == len(frame) == len(table) == len(table.to_pandas())
        assert arrow.column_names == frame.columns == table.column_names
        assert arrow.to_pylist() == table.to_dicts()
    series = result.series  # noqa: F841, DuckDB reads the variable
    counted = duckdb.sql("select count(*) from series")
    assert counted is not None and counted.fetchall() == [(len(result.series),)]


def test_readers_share_the_buffers() -> None:
    table = afteryou.run(Scenario(ONE_FLOW)).series
    arrow = [pyarrow.table(table)["value"].chunk(0).buffers()[1].address for _ in range(2)]
    frame = polars.DataFrame(table)["value"].to_numpy(allow_copy=False).__array_interface__["data"][0]
    assert arrow[0] == arrow[1] == frame
    assert isinstance(table.to_pandas(), pandas.DataFrame)


def test_series_are_those_of_the_command(tmp_path: Path, result: Result) -> None:
    result.save(tmp_path)
    saved = pandas.read_csv(tmp_path / "series.csv")
    ours = result.series.to_pandas()
    assert list(saved.columns) == list(ours.columns)
    for column in ("time_s", "value"):
        assert (saved[column] == ours[column]).all()
    for column in ("run", "of", "quantity", "unit"):
        assert (saved[column] == ours[column].astype(str)).all()


def test_a_notebook_shows_a_figure(result: Result) -> None:
    svg, png, html = result.figure(), result.figure("png"), result._repr_html_()
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert png.startswith(b"\x89PNG")
    assert html.startswith("<svg") and "<pre>" in html
    assert "<html" in result.html()
    assert json.loads(result.json())["content_hash"] == result.key


def test_closed_forms_have_names_units_and_formulas() -> None:
    table, notes = afteryou.explain(Scenario.load(SCENARIOS / "two-fledbat.toml"))
    rows = table.to_dicts()
    assert {"of", "what", "value", "unit", "formula"} <= set(rows[0]) and notes


def test_ctrl_c_ends_a_run() -> None:
    code = """
import afteryou, os, signal, threading
scenario = afteryou.Scenario({"duration": "100000 s", "link": {"rate": "1 Gbit/s", "buffer": "50 packets"},
    "flow": [{"name": "a", "controller": "cubic", "rtt": "20 ms"}]})
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    afteryou.run(scenario)
except KeyboardInterrupt:
    print("interrupted")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.stdout == "interrupted\n", ended.stderr


def test_the_command_returns_its_exit_codes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "afteryou"]
    version = subprocess.run([*command, "--version"], capture_output=True, text=True)
    assert version.stdout == f"afteryou {afteryou.__version__}\n"
    nowhere = subprocess.run([*command, "sim", str(tmp_path / "none.toml")], capture_output=True, text=True)
    assert nowhere.returncode == 2 and "none.toml" in nowhere.stderr


def test_a_study_is_a_table_of_findings() -> None:
    findings = afteryou.study(["bagnulo2022/fig3"], quick=True).to_dicts()
    assert findings and {finding["entry"] for finding in findings} == {"bagnulo2022/fig3"}
    assert {"value", "unit", "band_min", "band_max", "published", "verdict"} <= set(findings[0])
    with pytest.raises(afteryou.Error, match="nowhere"):
        afteryou.study(["nowhere"])
    with pytest.raises(ValueError, match="take hours"):
        afteryou.study([])
