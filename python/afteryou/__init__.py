"""Background transport: scenarios, engines and results.

>>> import afteryou
>>> scenario = afteryou.Scenario.load("home-uplink.toml").set("link.rate", "5 Mbit/s")
>>> result = afteryou.run(scenario)
>>> result.flows.to_pandas()[["flow", "goodput_bit_s"]]
"""

from afteryou._afteryou import (
    Ack,
    Background,
    Idle,
    League,
    Loss,
    Result,
    Scenario,
    SpuriousLoss,
    Table,
    Timeout,
    __version__,
    explain,
    run,
    set_background,
    study,
)
from afteryou.errors import Error, RuleError, ScenarioError
from afteryou.leagues import league
from afteryou.rules import rule
from afteryou.sweeps import Swept, sweep

__all__ = [
    "Ack",
    "Background",
    "Error",
    "Idle",
    "League",
    "Loss",
    "Result",
    "RuleError",
    "Scenario",
    "ScenarioError",
    "SpuriousLoss",
    "Swept",
    "Table",
    "Timeout",
    "__version__",
    "explain",
    "league",
    "rule",
    "run",
    "set_background",
    "study",
    "sweep",
]
