"""The native half of the package."""

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Protocol, final, overload

import pandas

__version__: str
__all__ = [
    "Ack",
    "Background",
    "Idle",
    "League",
    "Loss",
    "Result",
    "Round",
    "Scenario",
    "Season",
    "SpuriousLoss",
    "Steering",
    "Sweep",
    "Table",
    "Timeout",
    "__version__",
    "background",
    "build",
    "command",
    "explain",
    "league_part",
    "register",
    "register_steered",
    "run",
    "run_part",
    "set_background",
    "study",
]

@final
class Scenario:
    """A scenario file that was read and checked. It never changes: ``set`` returns another one."""

    def __new__(cls, source: str | Mapping[str, Any]) -> Scenario:
        """Reads a scenario from TOML text, or from a dictionary with the same keys."""

    @staticmethod
    def load(path: str | PathLike[str], *, untrusted: bool = False) -> Scenario:
        """Reads a scenario file. With ``untrusted`` it may name files below its own folder only, symbolic links resolved."""

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
        """One row for each link that data cross in each window: utilisation, queuing delay, drops."""

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

@final
class League:
    """A league that has been judged."""

    @property
    def order(self) -> Table:
        """The controllers, the best first: score, its standard error, the score of each goal, and failed runs."""

    @property
    def cells(self) -> Table:
        """A row for each controller in each cell: the network, numbers and scores of goals, and why a run failed."""

    @property
    def slices(self) -> Table | None:
        """A row for each controller and slice: bound, mean, its standard error, and cells. None without ``slices=True``."""

    @property
    def warnings(self) -> list[str]:
        """Sentences about what went wrong beside the runs."""

    def write(self, folder: str | PathLike[str]) -> Path:
        """Writes the page, the summary, tables and the scenario files of the worst cells into a folder, and returns the page."""

@final
class Ack:
    """An acknowledgement that reports something new. Sizes are bytes of payload."""

    @property
    def now_s(self) -> float:
        """When it arrived, s of simulated time."""

    @property
    def delivered(self) -> int:
        """Bytes that it reports as delivered for the first time, by SACK or in order."""

    @property
    def newly_acked(self) -> int:
        """The part of `delivered` that was acknowledged in order."""

    @property
    def flightsize(self) -> int:
        """Bytes sent and not yet acknowledged in order, before this ack (RFC 5681 §2)."""

    @property
    def in_flight(self) -> int:
        """Bytes believed to be in the network before this ack (the pipe of RFC 6675)."""

    @property
    def sent_at_s(self) -> float:
        """When the newest acknowledged packet was sent, s."""

    @property
    def packet_number(self) -> int:
        """Number of the newest acknowledged packet; retransmissions have numbers of their own."""

    @property
    def rtt_s(self) -> float | None:
        """Round-trip time of the newest acknowledged packet, s; None if it is ambiguous."""

    @property
    def smoothed_rtt_s(self) -> float:
        """The transport's smoothed round-trip time, s; 0 before the first sample."""

    @property
    def one_way_delay_us(self) -> int | None:
        """One-way delay in µs as the peer measured it, modulo 2³² and with an unknown constant offset; None without a sample."""

    @property
    def may_have_waited(self) -> bool:
        """The delays may contain a delayed ack's waiting."""

    @property
    def delivery_rate_bit_s(self) -> float | None:
        """Delivery rate while the newest acknowledged packet was in flight, bit/s; None without a sample."""

    @property
    def marks(self) -> int:
        """Packets marked Congestion Experienced that it reports; an echo counts as one."""

    @property
    def round_start(self) -> bool:
        """A round trip has passed since the last ack with this flag."""

    @property
    def app_limited(self) -> bool:
        """The application limits the sender, not the window."""

@final
class Loss:
    """A packet was found lost. A rule that responds once per round trip compares `sent_at_s` with its last response."""

    @property
    def now_s(self) -> float:
        """When it was found, s."""

    @property
    def sent_at_s(self) -> float:
        """When the lost packet was sent, s."""

    @property
    def packet_number(self) -> int:
        """Number of the lost packet."""

    @property
    def lost(self) -> int:
        """Payload of the lost packet, bytes."""

    @property
    def flightsize(self) -> int:
        """Bytes sent and not yet acknowledged in order."""

@final
class SpuriousLoss:
    """A packet that was reported lost has arrived after all."""

    @property
    def now_s(self) -> float:
        """When that was found, s."""

    @property
    def undo(self) -> bool:
        """Every loss since `since_s` was spurious: the reductions since then may be undone."""

    @property
    def since_s(self) -> float:
        """With `undo`: when the first reduction happened that was needless, s."""

@final
class Timeout:
    """The retransmission timer expired."""

    @property
    def now_s(self) -> float:
        """When, s."""

    @property
    def flightsize(self) -> int:
        """Bytes sent and not yet acknowledged in order."""

    @property
    def consecutive(self) -> int:
        """1 for the first expiry since an ack made progress, 2 for the next, and so on."""

@final
class Idle:
    """Sending starts again after a time with nothing in flight."""

    @property
    def now_s(self) -> float:
        """When it starts again, s."""

    @property
    def idle_for_s(self) -> float:
        """How long nothing was in flight, s."""

    @property
    def rto_s(self) -> float:
        """The retransmission timeout, s."""

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

def study(ids: list[str], quick: bool = False) -> Table:
    """Runs experiments of the papers and returns their findings, a value in a row beside the published one.

    ids: papers ("gong2012") or entries ("gong2012/fig2"), or ["all"], which takes hours.
    quick: thinner grids and fewer seeds, never shorter runs.
    """

class HasFileno(Protocol):
    """A socket: ``socket.socket``, ``ssl.SSLSocket``, the socket of an asyncio transport."""

    def fileno(self) -> int: ...

@final
class Background:
    """The facts about a socket after ``set_background``. ``str()`` is one sentence."""

    @property
    def rule(self) -> str | None:
        """The rule that yields: the name of a controller in Linux' kernel, or the means of another system. None if the socket keeps its ordinary one."""

    @property
    def missing(self) -> Literal["not-loaded", "not-permitted", "locked", "not-tcp", "no-means", "refused"] | None:
        """The reason why there is no rule."""

    @property
    def marked(self) -> bool:
        """Whether packets carry the lower-effort mark (DSCP 1, RFC 8622)."""

    @property
    def low_priority(self) -> bool:
        """Whether this machine's own queue sends packets of the socket last (Linux)."""

    @property
    def sentence(self) -> str:
        """The same for people, with advice."""

def set_background(sock: HasFileno | int) -> Background:
    """Makes a TCP socket background traffic, as far as the system permits, and returns what was managed.

    ``sock`` is a socket or its descriptor. Call it on a connection, right after it is established. Raises OSError if it is
    not an open socket, and ValueError if it is not one of the Internet.
    """

def register(name: str, class_: type[Any], parameters: list[tuple[str, float]], background: bool) -> None:
    """Registers a class as a controller: use ``afteryou.rule``."""

def command(words: list[str]) -> int:
    """Runs the command ``afteryou`` with these words, the program's name among them, and returns its exit code."""

@final
class Sweep:
    """A sweep and its folder: use ``afteryou.sweep``."""

    def __new__(
        cls,
        scenario: Scenario,
        out: str | PathLike[str],
        dataset: tuple[str | PathLike[str], str],
        engine: str,
        seed: int | None,
        repeat: int | None,
    ) -> Sweep:
        """Begins a sweep in a folder, or continues the one that is there. Finished runs are in ``dataset``, too:
        a folder, and the name of the scenario there."""

    @property
    def runs(self) -> int:
        """The number of runs."""

    @property
    def warnings(self) -> list[str]:
        """Sentences about settings that are valid and seldom meant."""

    def pending(self) -> list[int]:
        """The runs that the folder does not have, as indices from 0."""

    def keep(self, lines: list[tuple[int, str, str]]) -> None:
        """Keeps finished runs, each an index, a key and a line of the journal."""

    def run_here(self, threads: int | None, progress: Callable[[int], None]) -> None:
        """Runs everything that is pending on the cores of this machine."""

    def finish(self) -> Path:
        """Writes the tables and the page of all runs, and returns the page."""

def build() -> str:
    """The hash of this extension module, part of the key of each run in a sweep."""

def run_part(
    scenario: Scenario, engine: str, seed: int | None, repeat: int | None, indices: list[int]
) -> list[tuple[int, str, str]]:
    """Computes runs in this thread and returns their lines."""

@final
class Season:
    """A league under way: use ``afteryou.league``."""

    def __new__(
        cls,
        choices: tuple[list[str], bool, str, int, int, str, bool],
        patience_s: float,
        cache: str | PathLike[str] | None,
        out: str | PathLike[str] | None,
    ) -> Season:
        """Draws the grid and takes the runs that the folder ``cache`` has; ``out`` is checked. The choices are controllers, quick,
        set, seed of the grid, the step between cells, engine, and slices."""

    @property
    def runs(self) -> int:
        """The number of runs."""

    @property
    def choices(self) -> tuple[list[str], bool, str, int, int, str, bool]:
        """The choices without the rules in Python, for workers."""

    def pending(self, rules: bool) -> list[int]:
        """The runs that have not been made, as indices from 0: those with a rule in Python, or the others."""

    def keep(self, lines: list[tuple[int, str, str]]) -> None:
        """Keeps runs that were made elsewhere."""

    def run_here(self, runs: list[int], threads: int | None, progress: Callable[[int], None]) -> None:
        """Makes runs on this machine. ``progress`` gets the number of runs that there are."""

    def time_rules(self) -> float:
        """Plays a few cells of each rule in Python and returns how long the others will take, s."""

    def finish(self) -> League:
        """Judges the runs."""

def background() -> list[str]:
    """The built-in background controllers."""

def league_part(
    choices: tuple[list[str], bool, str, int, int, str, bool], patience_s: float, indices: list[int]
) -> list[tuple[int, str, str]]:
    """Plays runs in this thread and returns their lines."""

@final
class Round:
    """The last round trip of the steered flow."""

    now_s: float
    """The time, s."""
    elapsed_s: float
    """Time since the round before, s."""
    delivered: int
    """Bytes delivered."""
    lost: int
    """Packets found lost."""
    timeouts: int
    """Timeouts."""
    rtt_s: float
    """Mean of the round-trip times, s; 0 without a sample."""
    least_rtt_s: float
    """The smallest round-trip time of the connection so far, s; 0 before the first sample."""
    cwnd: int
    """Window, bytes."""
    mss: int
    """Payload of a packet, bytes."""

@final
class Steering:
    """A simulation whose flow with the controller "steered" awaits a window at each round trip."""

    def __new__(cls, scenario: Scenario, seed: int) -> Steering:
        """Begins a run; exactly one flow has the controller "steered"."""

    def step(self, cwnd: int | None = None) -> Round | None:
        """Sets the window, bytes, and returns the round trip that follows; None at the end of the scenario."""

def register_steered() -> None:
    """Makes the controller "steered" known."""
