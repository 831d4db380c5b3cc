"""The native half of the package."""

from collections.abc import Mapping
from os import PathLike
from typing import Any, Literal, final, overload

import pandas

__version__: str
__all__ = ["Result", "Scenario", "Table", "__version__", "command", "explain", "run"]

@final
class Scenario:
    """A scenario file that was read and checked. It never changes: ``set`` returns another one."""

    def __new__(cls, source: str | Mapping[str, Any]) -> Scenario:
        """Reads a scenario from TOML text, or from a dictionary with the same keys."""

    @staticmethod
    def load(path: str | PathLike[str]) -> Scenario:
        """Reads a scenario file."""

    def set(self, key: str, value: str | float | bool) -> Scenario:
        """Returns the scenario with a setting replaced, as ``--set KEY=VALUE`` does."""

    @property
    def name(self) -> str:
        """The name that the file gives itself."""

    @property
    def text(self) -> str:
        """The text of the file, without the settings that ``set`` replaced."""

    @property
    def settings(self) -> list[str]:
        """The settings that ``set`` replaced, as "key=value"."""

    @property
    def runs(self) -> int:
        """The number of runs: every combination of ``[sweep]``, times ``repeat``."""

    def __hash__(self) -> int: ...

@final
class Table:
    """A table with named columns, which polars, pyarrow, DuckDB and pandas read."""

    @property
    def column_names(self) -> list[str]:
        """The names of the columns; a unit is the end of a name ("goodput_bit_s")."""

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a pandas.DataFrame, whose buffers are copies. Requires pandas and pyarrow."""

    def to_dicts(self) -> list[dict[str, Any]]:
        """Returns the rows as a list of dictionaries. Requires no other library."""

    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Result:
    """The result of a run."""

    @staticmethod
    def load(path: str | PathLike[str]) -> Result:
        """Reads a ``result.json``, or the one in a folder that a command saved."""

    def save(self, folder: str | PathLike[str]) -> None:
        """Writes ``result.json``, ``report.html``, ``figure.svg`` and the curves into a folder."""

    @property
    def flows(self) -> Table:
        """One row for each flow in each window."""

    @property
    def windows(self) -> Table:
        """One row for each link that data cross in each window: utilization, queuing delay, drops."""

    @property
    def sets(self) -> Table:
        """One row for each set of flows that the scenario measures together."""

    @property
    def comparison(self) -> Table:
        """One row for each window and foreground flow: the run beside the same run without its background flows."""

    @property
    def queues(self) -> Table:
        """One row for each link in the whole run: its rate, its queue, its packets."""

    @property
    def series(self) -> Table:
        """The curves, a point in a row: ``run``, ``time_s``, ``of``, ``quantity``, ``unit``, ``value``."""

    @property
    def key(self) -> str:
        """The name of the run: the same wherever the same program runs the same scenario with the same seed."""

    @property
    def engine(self) -> str:
        """The engine that ran it."""

    @property
    def seed(self) -> int:
        """The seed of the run."""

    @property
    def warnings(self) -> list[str]:
        """Sentences about whatever makes the figures doubtful."""

    @overload
    def figure(self, format: Literal["svg"] = "svg") -> str: ...
    @overload
    def figure(self, format: Literal["png"]) -> bytes: ...
    def html(self) -> str:
        """Returns the whole page as one HTML document that works offline."""

    def json(self) -> str:
        """Returns the outcome as JSON, as in ``result.json``."""

    def _repr_html_(self) -> str: ...

def run(scenario: Scenario, engine: str = "sim", seed: int | None = None) -> Result:
    """Runs a scenario and returns its result.

    scenario: one run; a file with ``[sweep]`` asks for several.
    engine: "sim", packet by packet; "fluid", equations; "bed", real packets in real time.
    seed: replaces the scenario's own.
    """

def explain(scenario: Scenario) -> tuple[Table, list[str]]:
    """Computes every closed form that applies to a scenario, without running it.

    Returns a table with the columns ``of``, ``what``, ``value``, ``unit``, ``formula`` (and ``point`` where the scenario
    varies settings), and a list of sentences that follow from the numbers.
    """

def command(words: list[str]) -> int:
    """Runs the command ``afteryou`` with these words, the program's name among them, and returns its exit code."""
