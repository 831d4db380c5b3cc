"""Measures the steps per second of the Gymnasium environment beside the simulator's own time for the same packets."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import afteryou
from afteryou.gym import BESIDE_CUBIC, BackgroundFlow

LONG: dict[str, Any] = BESIDE_CUBIC | {"duration": "600 s"}
LONG["flow"] = [LONG["flow"][0], {"name": "upload", "controller": "cubic", "rtt": "50 ms"}]
STEADY = np.array([0.0], dtype=np.float32)

env = BackgroundFlow([LONG])
env.reset(seed=1)
for _ in range(4):
    env.step(np.array([1.0], dtype=np.float32))
steps, truncated = 0, False
began = time.perf_counter()
while not truncated:
    truncated = env.step(STEADY)[3]
    steps += 1
took = time.perf_counter() - began

LONG["flow"][0] = LONG["flow"][0] | {"controller": "vegas"}
began = time.perf_counter()
afteryou.run(afteryou.Scenario(LONG))
alone = time.perf_counter() - began
print(f"{steps / took:.0f} steps/s: {took:.3f} s for 600 s of network; a run with a built-in controller takes {alone:.3f} s")
