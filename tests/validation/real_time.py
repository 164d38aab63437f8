"""Body-fitted cases in real time: forces on cylinders that shed vortices, or oscillate with their grid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import taskflow as tf
from taskflow.runs.results import Run
from tests.validation.body_fitted import cylinder


class Forces(NamedTuple):
    """On a body, by the lines of a log: times, and coefficients 2 F [line, axis] at the speed 1."""

    time: np.ndarray
    coefficients: np.ndarray

    @classmethod
    def of(cls, run: Run, body: str = "body") -> Forces:
        """Of a run with bodies in its log."""
        lines = [line for line in run.log() if "bodies" in line]
        time, force = ([line["time"] for line in lines], [line["bodies"][body]["force"] for line in lines])
        return cls(np.array(time), 2 * np.array(force))


class Shedding(NamedTuple):
    """Of a cylinder that sheds vortices: its Strouhal number, mean drag, and amplitude of lift."""

    strouhal: float
    drag: float
    lift: float

    @classmethod
    def of(cls, forces: Forces, start: float) -> Shedding:
        """Over the whole periods since a time."""
        late = forces.time >= start
        time, (drag, lift, _) = forces.time[late], forces.coefficients[late].T
        rises = _rises(time, lift)
        whole = (time >= rises[0]) & (time < rises[-1])
        period = (rises[-1] - rises[0]) / (len(rises) - 1)
        return cls(1 / period, drag[whole].mean(), (lift[whole].max() - lift[whole].min()) / 2)


def _rises(time: np.ndarray, values: np.ndarray) -> np.ndarray:
    """When values rise through 0."""
    at = np.flatnonzero((values[:-1] < 0) & (values[1:] >= 0))
    return time[at] - values[at] * (time[at + 1] - time[at]) / (values[at + 1] - values[at])


def frequency(forces: Forces, incidence: float, start: float) -> float:
    """How often, since a time, the lift rises through its mean: in a stream that is turned by so many degrees."""
    late, turn = forces.time > start, np.radians(incidence)
    lift = forces.coefficients[late, :2] @ [-np.sin(turn), np.cos(turn)]
    rises = _rises(forces.time[late], lift - lift.mean())
    return float((len(rises) - 1) / (rises[-1] - rises[0]))


def marched(flow: tf.Case, step: float, end: float) -> tf.Case:
    """A case in real time, marched implicitly with all defaults, with a line in the log for each step."""
    return flow.replace(**{
        "time": {"step": step, "end": end}, "monitor.every": {"steps": 1}, "output.every": end, "method.stall": "fail",
        "method.march": "implicit",
    })  # fmt: skip


def oscillating(around: int, away: int, periods: float) -> tf.Case:
    """A cylinder of diameter 1 oscillates in fluid at rest, Re = 100, KC = 5 (Duetsch et al. 1998): its grid moves."""
    flow = cylinder(100, around, away, 20.0, steps=1)
    still = {"initial.velocity": [0.0, 0.0, 0.0], "method.reference_speed": 1.0}
    way = {"motion": {"displacement": ["-5/(2*pi)*sin(2*pi*0.2*t)", 0.0, 0.0]}}
    far = {"boundaries.far": {"type": "far-field", "velocity": [0.0, 0.0, 0.0]}}
    return marched(flow, 0.05, 5.0 * periods).replace(**still, **way, **far)
