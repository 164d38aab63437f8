"""Runs as environments of Gymnasium, for controllers that learn: `pip install "taskflow-cfd[gym]"`.

An episode is a `Simulation`. In each step of an environment the controller acts by `Simulation.set`, the flow advances
several steps, and the controller observes the simulation.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import taskflow as tf

Act = Callable[[tf.Simulation, np.ndarray], None]
Observe = Callable[[tf.Simulation], np.ndarray]
Spaces = Mapping[str, gymnasium.spaces.Space[Any]]  # of action and observation


class FlowEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """A case as an environment, to its end or for a number of steps, after which an episode is truncated.

    Parameters
    ----------
    case : Case
    spaces : dict
        `action` and `observation`, of gymnasium.spaces.
    act : callable
        Called with the simulation and the action before the flow advances.
    observe, reward : callable
        Called with the simulation after that.
    every : int
        Steps of the flow in a step of the environment.
    steps : int, optional
        Steps of the environment in an episode. Default: to the end of the case.
    """

    def __init__(
        self, case: tf.Case, spaces: Spaces, act: Act, observe: Observe, reward: Callable[[tf.Simulation], float],
        *, every: int = 10, steps: int | None = None,
    ) -> None:  # fmt: skip
        self.action_space, self.observation_space = spaces["action"], spaces["observation"]
        self._case, self._act, self._observe, self._reward = case, act, observe, reward
        self._every, self._steps, self._made = every, steps, 0
        self._folder = Path(tempfile.mkdtemp(prefix="taskflow-"))
        self.simulation: tf.Simulation | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode: of the case with the changes `options`, by key."""
        super().reset(seed=seed)
        self._end()
        case = self._case.replace(**options) if options else self._case
        self.simulation, self._made = tf.Simulation(case, self._folder / "run", force=True), 0
        return self._observe(self.simulation), {"time": self.simulation.time}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Act, advance the flow, and return observation, reward, whether it failed or ended, and the time."""
        if self.simulation is None:
            raise tf.BadInput("step(): the episode has not begun; call reset()")
        simulation = self.simulation
        self._act(simulation, np.clip(action, self.action_space.low, self.action_space.high))
        try:
            simulation.step(self._every)
        except tf.RunFailed as failure:
            self.simulation = None
            nothing = np.zeros(self.observation_space.shape or (), np.float32)
            return nothing, float("-inf"), True, False, {"failure": str(failure)}
        self._made += 1
        over = self._made == self._steps or simulation.ended
        return self._observe(simulation), self._reward(simulation), False, over, {"time": simulation.time}

    def close(self) -> None:
        """End the episode and remove its folder."""
        self._end()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _end(self) -> None:
        if self.simulation is not None:
            self.simulation.close()
            self.simulation = None


class Turning:
    """Action that turns the first obstacle at a rate, from its present angle, about y."""

    def __init__(self, most: float) -> None:
        self._most, self._angle, self._rate, self._since = most, 0.0, 0.0, 0.0

    def __call__(self, simulation: tf.Simulation, action: np.ndarray) -> None:
        now = simulation.time
        self._angle = self._angle + self._rate * (now - self._since) if simulation.iteration else 0.0
        self._rate, self._since = self._most * float(action[0]), now
        simulation.set("obstacles[1].motion.angle", f"{self._angle!r} + {self._rate!r}*(t - {now!r})")


def coefficients(simulation: tf.Simulation) -> np.ndarray:
    """Return drag and lift of the first body in the last line of the log: of unit speed, diameter and span 0.1."""
    force = next(iter(simulation.log()[-1]["bodies"].values()))["force"]
    return np.array([force[0], force[2]], np.float32) / np.float32(0.05)


def rotating_cylinder(start: tf.Run | None = None, *, every: int = 6, steps: int = 150, most: float = 4.0) -> FlowEnv:
    """Return the task to lower the drag of a cylinder at Re = 100 by turning it.

    The action is the rate of rotation over `most`, in radians per diameter and speed. Drag and lift are observed. The
    reward is minus drag. Episodes begin at the end of the run `start`, by default at rest without vortices.
    """
    case = tf.Case(
        title="Cylinder that may turn, Re = 100",
        grid={"cells": [128, 1, 64], "lengths": [16.0, 0.1, 8.0], "origin": [-4.0, 0.0, -4.0]},
        fluid={"viscosity": 0.01},
        boundaries={
            "x_min": {"type": "inflow", "velocity": [1.0, 0.0, 0.0]}, "x_max": "outflow", "y": "periodic",
            "z_min": "slip", "z_max": "slip",
        },
        obstacles=[{
            "name": "cylinder", "type": "cylinder", "axis": "y", "centre": [0.0, 0.0, 0.05], "radius": 0.5,
            "motion": {"angle": {"y": "0*t"}, "centre": [0.0, 0.0, 0.05]},
        }],
        bodies={"treatment": "immersed"},
        initial={"velocity": [1.0, 0.0, 0.0]} if start is None else {"source": str(start.directory)},
        time={"steps": every * steps},
        pressure={"solver": "multigrid", "tolerance": 1e-3},
        monitor={"every": {"steps": 2}},
    )  # fmt: skip
    seen = gymnasium.spaces.Box(-np.inf, np.inf, (2,))
    spaces = {"action": gymnasium.spaces.Box(-1.0, 1.0, (1,)), "observation": seen}
    return FlowEnv(case, spaces, Turning(most), coefficients, lambda sim: -float(coefficients(sim)[0]), every=every)
