"""A Gymnasium environment: one background flow whose window an agent sets once per round trip.

>>> import gymnasium, afteryou.gym
>>> env = gymnasium.make("afteryou/BackgroundFlow-v0")
>>> observation, info = env.reset(seed=1)

| action | meaning |
|---|---|
| ``[a]``, -1 to 1 | the window is multiplied by 2ᵃ; it stays between 1 and 10 000 packets |

| observation | of the last round trip |
|---|---|
| 0 | queuing delay, 100 ms: the mean round-trip time less the smallest so far; 0 to 100 |
| 1 | change of it since the round before; -100 to 100 |
| 2 | smallest round-trip time so far, 100 ms; 0 to 100 |
| 3 | delivered bytes divided by the window; 0 to 10 |
| 4 | part of the packets that were lost; 0 to 1 |
| 5 | log2 of the window in packets; 0 to 14 |

The reward of a round trip is ``rate / rate_scale - delay_weight * queuing delay / 100 ms - loss_weight * lost part``, the rate in
bit/s. An episode is one scenario, drawn at random from ``scenarios``; it is truncated at the scenario's end. The same seed
and actions give the same episode.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from afteryou._afteryou import Round, Scenario, Steering, register_steered
from afteryou.errors import Error

__all__ = ["BESIDE_CUBIC", "BackgroundFlow"]

register_steered()

MOST_PACKETS = 10_000
DELAY_S = 0.1
"""Unit of delays in observations."""

BESIDE_CUBIC: dict[str, Any] = {
    "name": "a steered flow meets CUBIC",
    "duration": "30 s",
    "link": {"rate": "10 Mbit/s", "buffer": "200 ms"},
    "flow": [
        {"name": "agent", "role": "background", "controller": "steered", "rtt": "50 ms"},
        {"name": "upload", "controller": "cubic", "rtt": "50 ms", "start": "10 s", "stop": "20 s"},
    ],
}
"""The scenario of an environment without others: 10 s alone, 10 s beside CUBIC, 10 s alone."""

Observation = NDArray[np.float32]
LOW = np.array([0, -100, 0, 0, 0, 0], dtype=np.float32)
HIGH = np.array([100, 100, 100, 10, 1, 14], dtype=np.float32)


class BackgroundFlow(gymnasium.Env[Observation, NDArray[np.float32]]):
    """One background flow among the flows of a scenario."""

    metadata = {"render_modes": []}

    def __init__(
        self,
        scenarios: Sequence[Scenario | dict[str, Any]] = (BESIDE_CUBIC,),
        rate_scale: float = 10e6,
        delay_weight: float = 1.0,
        loss_weight: float = 10.0,
    ) -> None:
        """Makes an environment.

        scenarios: each has exactly one flow with the controller "steered". Several are a curriculum: assign to ``scenarios``.
        rate_scale: bit/s that earn a reward of 1.
        delay_weight, loss_weight: reward that 100 ms of queuing delay cost, and the loss of every packet.
        """
        self.scenarios = [item if isinstance(item, Scenario) else Scenario(item) for item in scenarios]
        self.rate_scale, self.delay_weight, self.loss_weight = rate_scale, delay_weight, loss_weight
        self.observation_space = gymnasium.spaces.Box(LOW, HIGH)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,))
        self._steering: Steering | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode. ``options["scenario"]``: the index of a scenario, instead of a random one."""
        super().reset(seed=seed)
        index = int(self.np_random.integers(len(self.scenarios)))
        index = (options or {}).get("scenario", index)
        scenario = self.scenarios[index]
        self._steering = Steering(scenario, int(self.np_random.integers(2**31)))
        first = self._steering.step()
        if first is None:
            raise Error(f"{scenario.name}: the steered flow has no round trip before the end")
        self._delay_s, self._round = 0.0, first
        self._observation = self._observe(first)
        return self._observation, self._info(first) | {"scenario": index}

    def step(self, action: NDArray[np.float32]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Scales the window and runs one round trip."""
        if self._steering is None:
            raise Error("call reset() before step()")
        factor = 2.0 ** min(max(float(action[0]), -1.0), 1.0)
        mss = self._round.mss
        cwnd = int(min(max(self._round.cwnd * factor, mss), MOST_PACKETS * mss))
        ended = self._steering.step(cwnd)
        if ended is None:
            return self._observation, 0.0, False, True, self._info(self._round)
        self._round = ended
        self._observation = self._observe(ended)
        return self._observation, self._reward(ended), False, False, self._info(ended)

    def close(self) -> None:
        """Ends the simulation that is under way."""
        self._steering = None

    def _observe(self, ended: Round) -> Observation:
        delay_s = max(ended.rtt_s - ended.least_rtt_s, 0.0) if ended.rtt_s else self._delay_s
        change_s, self._delay_s = delay_s - self._delay_s, delay_s
        seen = (
            min(delay_s / DELAY_S, 100.0),
            min(max(change_s / DELAY_S, -100.0), 100.0),
            min(ended.least_rtt_s / DELAY_S, 100.0),
            min(ended.delivered / ended.cwnd, 10.0),
            _lost(ended),
            np.log2(max(ended.cwnd / ended.mss, 1.0)),
        )
        return np.array(seen, dtype=np.float32)

    def _reward(self, ended: Round) -> float:
        rate = 8 * ended.delivered / ended.elapsed_s if ended.elapsed_s else 0.0
        cost = self.delay_weight * self._delay_s / DELAY_S + self.loss_weight * _lost(ended)
        return float(rate / self.rate_scale - cost)

    @staticmethod
    def _info(ended: Round) -> dict[str, Any]:
        return {"time_s": ended.now_s, "cwnd": ended.cwnd, "delivered": ended.delivered, "elapsed_s": ended.elapsed_s}


def _lost(ended: Round) -> float:
    packets = ended.delivered / ended.mss + ended.lost
    return min(ended.lost / packets, 1.0) if packets else 0.0


gymnasium.register("afteryou/BackgroundFlow-v0", "afteryou.gym:BackgroundFlow")
