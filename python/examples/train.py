"""Trains a small policy with the evolution strategy of ``cma`` and shows it beside LEDBAT++. Half a minute on one core.

    pip install './python[gym]' cma
    python examples/train.py

The policy is linear in the observation, seven numbers. In each generation 16 policies play one episode on each of three links. The last
lines compare the result with LEDBAT++, with a seed and on a link that it has not seen.
"""

from __future__ import annotations

from typing import Any

import cma
import numpy as np
from numpy.typing import NDArray

import afteryou
from afteryou.gym import BESIDE_CUBIC, BackgroundFlow

GENERATIONS, POPULATION = 40, 16
WINDOWS = [{"name": "alone", "from": "4 s", "to": "10 s"}, {"name": "beside CUBIC", "from": "12 s", "to": "20 s"}]
Weights = NDArray[np.float64]


def action(weights: Weights, observation: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.array([np.tanh(observation @ weights[:-1] + weights[-1])], dtype=np.float32)


def play(env: BackgroundFlow, weights: Weights, seed: int) -> float:
    """Returns the reward of an episode per round trip."""
    observation, _ = env.reset(seed=seed)
    rewards, truncated = [], False
    while not truncated:
        observation, reward, _, truncated, _ = env.step(action(weights, observation))
        rewards.append(reward)
    return float(np.mean(rewards))


def train(links: list[BackgroundFlow]) -> Weights:
    strategy = cma.CMAEvolutionStrategy(np.zeros(7), 1.0, {"popsize": POPULATION, "seed": 1, "verbose": -9})
    for generation in range(GENERATIONS):
        tried = strategy.ask()
        rewards = [np.mean([play(env, weights, generation) for env in links]) for weights in tried]
        strategy.tell(tried, [-reward for reward in rewards])
        if generation % 10 == 9:
            print(f"generation {generation + 1}: reward {max(rewards):.3f} per round trip")
    return np.array(strategy.result.xfavorite)


def policy(weights: Weights) -> None:
    """Registers the policy as a controller, so that its runs have all figures of a result."""

    @afteryou.rule("trained")
    class Trained:
        def __init__(self, mss: int) -> None:
            self.mss, self.cwnd, self.least_s, self.delay_s = mss, 2.0 * mss, float("inf"), 0.0
            self.begin()

        def begin(self) -> None:
            self.rtts: list[float] = []
            self.delivered, self.lost = 0, 0

        def on_loss(self, loss: afteryou.Loss) -> None:
            self.lost += 1

        def on_timeout(self, timeout: afteryou.Timeout) -> None:
            self.cwnd = self.mss

        def on_ack(self, ack: afteryou.Ack) -> None:
            self.delivered += ack.delivered
            if ack.rtt_s is not None:
                self.rtts.append(ack.rtt_s)
                self.least_s = min(self.least_s, ack.rtt_s)
            if ack.round_start and self.rtts:
                self.steer()
                self.begin()

        def steer(self) -> None:
            delay_s = float(np.mean(self.rtts)) - self.least_s
            change_s, self.delay_s = delay_s - self.delay_s, delay_s
            lost = self.lost / (self.delivered / self.mss + self.lost)
            share = min(self.delivered / self.cwnd, 10.0)
            seen = (delay_s / 0.1, change_s / 0.1, self.least_s / 0.1, share, lost, np.log2(self.cwnd / self.mss))
            factor = 2.0 ** float(action(weights, np.array(seen, dtype=np.float32))[0])
            self.cwnd = min(max(self.cwnd * factor, self.mss), 10_000 * self.mss)


def beside_cubic(rate: str) -> dict[str, Any]:
    return BESIDE_CUBIC | {"link": BESIDE_CUBIC["link"] | {"rate": rate}}


def compare(rate: str, seed: int) -> None:
    for controller in ("trained", "ledbat++"):
        flows: list[dict[str, Any]] = [flow | {} for flow in BESIDE_CUBIC["flow"]]
        flows[0]["controller"] = controller
        scenario = afteryou.Scenario(beside_cubic(rate) | {"flow": flows, "measure": WINDOWS})
        result = afteryou.run(scenario, seed=seed)
        goodput = {(row["flow"], row["window"]): row["goodput_bit_s"] / 1e6 for row in result.flows.to_dicts()}
        delay = {row["window"]: row["queuing_delay_mean_ms"] for row in result.windows.to_dicts()}
        print(
            f"{rate}, {controller:>8}: alone {goodput['agent', 'alone']:5.2f} Mbit/s at {delay['alone']:5.1f} ms of queue; "
            f"beside CUBIC {goodput['agent', 'beside CUBIC']:5.2f} Mbit/s, CUBIC {goodput['upload', 'beside CUBIC']:5.2f}"
        )


if __name__ == "__main__":
    policy(train([BackgroundFlow([beside_cubic(f"{rate} Mbit/s")], rate_scale=rate * 1e6) for rate in (5, 10, 20)]))
    for rate in ("10 Mbit/s", "30 Mbit/s"):
        compare(rate, seed=1000)
