"""The program in `docs/ebb.md` answers the recorded events as the library does."""

import csv
import re
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).parents[2]
NOTE = (ROOT / "docs" / "ebb.md").read_text()
VECTORS = ROOT / "crates" / "transport" / "cc" / "vectors" / "ebb.csv"
MSS = 1448
HAS_RTT, HAS_REVERSE, APP_LIMITED, MARKED, MAY_HAVE_WAITED = 1, 2, 4, 8, 16


class State(SimpleNamespace):
    """A record whose unset fields read 0."""

    def __getattr__(self, name: str) -> int:
        if name.startswith("__"):
            raise AttributeError(name)
        return 0


def number(text: str) -> float:
    return float(text) if "." in text else int(text)


def program() -> dict[str, Any]:
    """Returns the names of the note's program: its blocks, and the parameters of its table."""
    blocks = re.findall(r"```python\n(.*?)```", NOTE, re.DOTALL)
    table = re.findall(r"^\| `([A-Z_]+)` \| ([0-9.]+) \|", NOTE, re.MULTILINE)
    assert len(blocks) > 10
    assert len(table) == 16
    names: dict[str, Any] = {"inf": inf, "State": State, **{name: number(value) for name, value in table}}
    exec("\n".join(blocks), names)
    names["s"] = names["connection"](MSS, 10)
    return names


def ack(fields: list[int]) -> State:
    now, sent_at, number, delivered, in_flight, rate, rtt, smoothed, reverse, flags = fields
    return State(
        now=now,
        sent_at=sent_at,
        number=number,
        delivered=delivered,
        in_flight=in_flight,
        rate=rate,
        rtt=rtt if flags & HAS_RTT else None,
        smoothed=smoothed,
        reverse=reverse if flags & HAS_REVERSE else None,
        limited=bool(flags & APP_LIMITED),
        marked=bool(flags & MARKED),
        waited=bool(flags & MAY_HAVE_WAITED),
    )


def take(names: dict[str, Any], event: str, fields: list[int]) -> None:
    """Gives the program an event."""
    now = fields[0]
    match event:
        case "sent":
            names["on_sent"](fields[2])
        case "ack":
            names["on_ack"](ack(fields))
        case "loss":
            names["on_loss"](now, fields[1])
        case "timeout" | "idle":
            names[f"on_{event}"](now)
        case "mtu":
            names["on_mtu"](fields[3])


def test_the_note_has_the_library_s_phases_and_windows() -> None:
    names = program()
    phases = set()
    rows = [row for row in csv.reader(VECTORS.open()) if not row[0].startswith("#") and row[0] != "event"]
    assert len(rows) > 5000
    for event, *texts in rows:
        fields = [int(text) for text in texts]
        take(names, event, fields[:10])
        window, rate, every, phase = fields[10:14]
        kind, value = names["pacing"]() or ("rate", 0)
        assert names["s"].phase == phase, (event, fields)
        # Floats do not round down.
        assert abs(names["window"]() - window) <= 0.01 * window, (event, fields)
        assert abs(value - (rate if kind == "rate" else every)) <= 0.01 * max(rate, every), (event, fields)
        phases.add(phase)
    assert phases == {0, 1, 2}
