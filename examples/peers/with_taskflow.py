"""taskflow in use: steps of a simulation with its log, pressure by FFT."""

from __future__ import annotations

import tempfile

import taskflow as tf
from examples.peers.flow import SIDE, VISCOSITY, Flow, State, divergence, energy

PACKAGE = "taskflow-cfd"


class Taskflow:
    """The flow in taskflow. `close` ends its run."""

    def __init__(self, flow: Flow) -> None:
        self.flow, self.folder = flow, tempfile.TemporaryDirectory()
        case = tf.Case(
            grid={"cells": [flow.cells] * 3, "lengths": [SIDE] * 3},
            fluid={"viscosity": VISCOSITY},
            boundaries=dict.fromkeys("xyz", "periodic"),
            initial={"velocity": ["sin(x)*cos(y)*cos(z)", "-cos(x)*sin(y)*cos(z)", 0.0]},
            time={"step": flow.step, "end": 1e6},
            pressure={"solver": "fft"},
            output={"every": 1e6},
            monitor={"every": {"steps": 100}},
            machine={"precision": flow.precision},
        )
        self.run = tf.Simulation(case, output=f"{self.folder.name}/run", progress=lambda _: None)

    def advance(self, steps: int) -> None:
        """Take steps, and return when they are done."""
        self.run.step(steps)

    def state(self) -> State:
        """Return the energy and the divergence on cells."""
        velocity = [self.run[name].values.T for name in "uvw"]
        return State(energy(velocity), divergence(velocity, self.flow))

    def close(self) -> None:
        """End the run, and remove its folder."""
        self.run.close()
        self.folder.cleanup()


start = Taskflow
