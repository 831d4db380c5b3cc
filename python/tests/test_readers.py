"""Tables as pandas, polars and DuckDB read them, from CSV, from Parquet and from Arrow."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pytest

import afteryou

SEED = 2**64 - 3
# Names that a spreadsheet would take for formulas, and one that is harmless.
NAMES = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "plain"]


def scenario() -> str:
    flows = "".join(
        f"[[flow]]\nname = {name!r}\ncontroller = 'cubic'\nrtt = '{20 + 40 * place} ms'\n".replace("'", '"')
        for place, name in enumerate(NAMES)
    )
    head = f'name = "readers"\nduration = "6 s"\nseed = {SEED}\n[link]\nrate = "6 Mbit/s"\nbuffer = "20 packets"\n'
    return head + flows + '[sweep]\n"link.buffer" = ["20 packets", "40 packets"]\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("readers")
    (place / "file.toml").write_text(scenario())
    words = ["sim", str(place / "file.toml"), "--out", str(place / "out"), "--no-series", "--parquet"]
    subprocess.run([sys.executable, "-m", "afteryou", *words], check=True, capture_output=True)
    return place / "out"


def pandas_parquet(path: Path) -> list[dict[str, Any]]:
    return pandas.read_parquet(path).to_dict("records")  # type: ignore[return-value]


def polars_parquet(path: Path) -> list[dict[str, Any]]:
    return polars.read_parquet(path).to_dicts()


def duckdb_parquet(path: Path) -> list[dict[str, Any]]:
    answer = duckdb.sql(f"select * from '{path}'")
    assert answer is not None
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.fetchall()]


@pytest.mark.parametrize("table", ["runs", "flows"])
def test_every_reader_takes_the_same_rows_from_parquet(folder: Path, table: str) -> None:
    path = folder / f"{table}.parquet"
    rows = polars_parquet(path)
    assert rows and duckdb_parquet(path) == rows
    for row, other in zip(rows, pandas_parquet(path), strict=True):
        assert row.keys() == other.keys()
        assert all(pandas.isna(other[name]) if value is None else other[name] == value for name, value in row.items())


COUNTS = ["run_packets", "run_retransmissions", "run_received_bytes"]


def test_a_difference_of_counts_is_negative_in_every_reader(folder: Path) -> None:
    path = folder / "flows.parquet"
    schema = polars.read_parquet_schema(path)
    whole = [name for name, kind in schema.items() if kind.is_integer() and name != "seed"]
    assert set(COUNTS) <= set(whole) and all(schema[name] == polars.Int64 for name in whole), schema
    first, last = polars_parquet(path)[0], polars_parquet(path)[len(NAMES) - 1]
    packets, expected = "run_packets", last["run_packets"] - first["run_packets"]
    assert expected < 0, "the flow with the longest path sends least"
    frame = pandas.read_parquet(path)
    assert frame[packets].iloc[len(NAMES) - 1] - frame[packets].iloc[0] == expected
    assert (frame[packets] - frame[packets].max()).min() <= expected
    lazy = polars.read_parquet(path)
    assert (lazy[packets] - lazy[packets].max()).min() == lazy[packets].min() - lazy[packets].max()  # type: ignore[operator]
    question = f"select min(a.{packets} - b.{packets}) from '{path}' a, '{path}' b"
    answer = duckdb.sql(question)
    assert answer is not None
    assert answer.fetchall() == [(lazy[packets].min() - lazy[packets].max(),)]  # type: ignore[operator]


def test_counts_of_a_result_in_arrow_are_signed() -> None:
    one = scenario().split("[sweep]")[0]
    result = afteryou.run(afteryou.Scenario(one))
    for table in (result.flows, result.windows, result.queues, result.sets, result.comparison):
        frame = polars.DataFrame(table)
        assert frame.columns
        wrong = [name for name, kind in frame.schema.items() if kind.is_unsigned_integer() and name != "seed"]
        assert not wrong


def test_a_seed_of_64_bits_is_whole_in_every_reader(folder: Path) -> None:
    path = folder / "runs.parquet"
    assert polars.read_parquet(path)["seed"].to_list() == [SEED] * 2
    assert pandas.read_parquet(path)["seed"].tolist() == [SEED] * 2
    assert [row["seed"] for row in duckdb_parquet(path)] == [SEED] * 2
    assert pandas.read_csv(folder / "runs.csv")["seed"].tolist() == [SEED] * 2
    assert polars.read_csv(folder / "runs.csv", schema_overrides={"seed": polars.UInt64})["seed"].to_list() == [SEED] * 2


def test_csv_and_parquet_have_the_same_columns_and_the_same_missing_values(folder: Path) -> None:
    for table in ("runs", "flows"):
        text, parquet = pandas.read_csv(folder / f"{table}.csv"), pandas.read_parquet(folder / f"{table}.parquet")
        assert list(text.columns) == list(parquet.columns)
        for name in text.columns:
            assert text[name].isna().tolist() == parquet[name].isna().tolist(), f"{table}.{name}"
    # What is not there is missing, an empty word like a figure that was not measured.
    group = polars.read_parquet(folder / "flows.parquet")
    assert all(value != "" for row in group.to_dicts() for value in row.values())


def test_no_field_of_a_csv_is_a_formula_and_parquet_has_the_name_itself(folder: Path) -> None:
    names = pandas.read_csv(folder / "flows.csv")["flow"].tolist()[: len(NAMES)]
    assert names == [f"'{name}" for name in NAMES[:-1]] + ["plain"]
    assert polars.read_parquet(folder / "flows.parquet")["flow"].to_list()[: len(NAMES)] == NAMES
    text = (folder / "flows.csv").read_text()
    for row in csv.reader(text.splitlines()):
        for field in row:
            number = field.lstrip("+-").replace(".", "").replace("e-", "").replace("e", "").isdigit()
            assert number or not field.lstrip().startswith(("=", "+", "-", "@")), field
