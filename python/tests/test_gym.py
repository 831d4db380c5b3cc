"""The Gymnasium environment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import afteryou

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from afteryou.gym import BESIDE_CUBIC, BackgroundFlow  # noqa: E402

STEADY = np.array([0.0], dtype=np.float32)


def episode(env: Any, seed: int, steps: int = 10_000) -> list[tuple[Any, ...]]:
    """Plays a policy of fixed random actions."""
    actions = np.random.default_rng(seed).uniform(-1, 1, (steps, 1)).astype(np.float32)
    seen: list[tuple[Any, ...]] = [tuple(env.reset(seed=seed)[0])]
    for action in actions:
        observation, reward, terminated, truncated, _ = env.step(action)
        seen.append((*observation, reward))
        if terminated or truncated:
            return seen
    return seen


def test_it_passes_the_check_of_gymnasium() -> None:
    check_env(gymnasium.make("afteryou/BackgroundFlow-v0").unwrapped)


def test_a_seed_and_actions_make_the_same_episode() -> None:
    env = BackgroundFlow()
    first = episode(env, 3)
    assert first == episode(env, 3) and first != episode(env, 4)
    # An episode ends with its scenario: 30 s in round trips of at least 50 ms.
    assert 100 < len(first) < 601


def test_two_environments_do_not_disturb_each_other() -> None:
    alone = episode(BackgroundFlow(), 5, 50)
    one, other = BackgroundFlow(), BackgroundFlow()
    actions = np.random.default_rng(5).uniform(-1, 1, (50, 1)).astype(np.float32)
    seen: list[tuple[Any, ...]] = [tuple(one.reset(seed=5)[0])]
    other.reset(seed=9)
    for action in actions:
        observation, reward, *_ = one.step(action)
        other.step(-action)
        seen.append((*observation, reward))
    assert seen == alone


def test_a_larger_window_carries_more_until_the_link_is_full() -> None:
    env = BackgroundFlow()
    env.reset(seed=1)
    rates = []
    for _ in range(8):
        _, _, _, _, info = env.step(np.array([1.0], dtype=np.float32))
        rates.append(8 * info["delivered"] / info["elapsed_s"])
    assert rates[0] < 2e6 < 9e6 < rates[-1] < 10.1e6


def test_a_curriculum_draws_all_of_its_scenarios() -> None:
    short = BESIDE_CUBIC | {"duration": "1 s"}
    env = BackgroundFlow([short, short | {"name": "another"}, short])
    env.reset(seed=1)
    assert {env.reset()[1]["scenario"] for _ in range(30)} == {0, 1, 2}
    assert env.reset(options={"scenario": 1})[1]["scenario"] == 1


def test_an_episode_that_is_left_ends_its_simulation() -> None:
    env = BackgroundFlow([BESIDE_CUBIC | {"duration": "100000 s"}])
    for seed in range(20):
        env.reset(seed=seed)
        env.step(STEADY)
    env.close()
    with pytest.raises(afteryou.Error, match="reset"):
        env.step(STEADY)


def test_a_scenario_without_a_steered_flow_is_refused() -> None:
    flow = {"name": "a", "controller": "cubic", "rtt": "50 ms"}
    env = BackgroundFlow([BESIDE_CUBIC | {"flow": [flow]}])
    with pytest.raises(ValueError, match="steered"):
        env.reset(seed=1)
