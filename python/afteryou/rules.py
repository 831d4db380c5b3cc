"""Controllers written in Python.

A rule is a class. The simulator makes an instance for each end of a connection, and one to check the parameters. It calls the
methods with read-only events and reads the window after each call:

>>> @afteryou.rule("halver")
... class Halver:
...     parameters = {"limit_ms": 20.0}
...
...     def __init__(self, mss: int, limit_ms: float) -> None:
...         self.mss, self.limit_s, self.least_s = mss, limit_ms / 1e3, float("inf")
...         self.cwnd = 2.0 * mss  # bytes
...
...     def on_ack(self, ack: afteryou.Ack) -> None:
...         self.least_s = min(self.least_s, ack.rtt_s or self.least_s)
...         self.cwnd += self.mss * ack.delivered / self.cwnd

A scenario names it as any controller: ``controller = { kind = "halver", limit_ms = 10.0 }``.

| member | meaning |
|---|---|
| ``__init__(mss, **parameters)`` | payload of a packet in bytes, and the parameters as floats |
| ``cwnd`` | window, bytes: at most this much is in flight |
| ``pacing_rate`` (optional) | bytes per second, or None: a window in a round trip |
| ``on_ack(ack)`` | an acknowledgement reported new data |
| ``on_loss(loss)`` (optional) | a packet was lost; called for each of them |
| ``on_spurious_loss(event)`` (optional) | a lost packet arrived after all |
| ``on_timeout(timeout)`` (optional) | the retransmission timer expired |
| ``on_idle(idle)`` (optional) | sending starts again |
| ``on_mtu(mss)`` (optional) | packets have another size |
| ``delivery_rates = True`` (optional) | fills ``Ack.delivery_rate_bit_s`` |
| ``parameters`` (optional) | names and defaults of parameters, numbers |

Rules run in the engine ``sim``, by ``afteryou.run``. The key of a result knows the name and the parameters of a rule, not
its code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from afteryou._afteryou import register

__all__ = ["rule"]

C = TypeVar("C", bound=type[Any])


def rule(name: str, *, background: bool = True) -> Callable[[C], C]:
    """Registers a class as the controller ``name``, in this process.

    name: a lower-case letter, then lower-case letters, digits, "+", "-", "_" or "."; no built-in controller's.
    background: the class of traffic in lists.

    A later class replaces an earlier one of the same name and the same parameters.
    """

    def registered(rule_class: C) -> C:
        parameters: Mapping[str, float] = getattr(rule_class, "parameters", {})
        for parameter in parameters:
            if not parameter.isidentifier() or parameter in ("rule", "mss"):
                raise ValueError(f"parameter {parameter!r}: write a Python name other than rule and mss")
        register(name, rule_class, [(key, float(value)) for key, value in parameters.items()], background)
        return rule_class

    return registered
