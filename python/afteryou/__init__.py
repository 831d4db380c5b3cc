"""Background transport: scenarios, engines and results.

>>> import afteryou
>>> scenario = afteryou.Scenario.load("home-uplink.toml").set("link.rate", "5 Mbit/s")
>>> result = afteryou.run(scenario)
>>> result.flows.to_pandas()[["flow", "goodput_bit_s"]]
"""

from afteryou._afteryou import Result, Scenario, Table, __version__, explain, run
from afteryou.errors import Error, ScenarioError

__all__ = ["Error", "Result", "Scenario", "ScenarioError", "Table", "__version__", "explain", "run"]
