"""The clock on the device: after a step it judges the step and plans the next one, so that the host need not wait.

It does the arithmetic of `StepLimit` and of a run's clock in double precision, in the same order, so both find the same
bits. The host plans the rest: states that are written, the start of motion, doubtful steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from taskflow.flow.kernels import KERNELS
from taskflow.flow.time.schemes import DiffusionTerms, TimeScheme
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Derive, Launch, Program, Read, Reduce, Repeat, Roles, Scalar, task
from taskflow.runtime.tasks.numbers import numbered

CLOCK = "clock"  # before the names of its scalars
CELL = f"{CLOCK}.cell"  # the field: one cell on every block. No case can name a field so
STATE_NAMES = ("stop", "good", "time", "dt", "before", "next_time", "next_dt", "rate")
LIMIT_NAMES = (
    "fixed", "cfl", "diffusion", "spread", "frequency", "fall", "longest", "bounded", "crossings", "spreadings",
    "euler", "damping", "less", "once", "viscosity", "diffusivity", "bounded_diffusivity", "part", "planned",
    "accepted", "resting", "sane", "stable", "alike", "slack", "spacings", "shorter", "target", "horizon", "fits",
    "tiny", "share_1", "share_2", "share_3",
)  # fmt: skip
STATE, LIMIT = f"{CLOCK}.state", f"{CLOCK}.limit"  # the scalars
STAGES = 3


@task(kernel=KERNELS / "step_clock.cu")
def advance_clock(
    cell: Read,
    *,
    now: Scalar[sum, len(STATE_NAMES)],
    limit: Scalar[sum, len(LIMIT_NAMES)],
    rate: Scalar,
    eddy: Scalar | None,
    state: Reduce[sum, len(STATE_NAMES)],
    dt_1: Reduce[sum],
    dt_2: Reduce[sum],
    dt_3: Reduce[sum],
    ratio: Reduce[sum],
) -> None:
    """Judge the step that led here, and set dt of each stage and the ratio of the next one.

    In `state`: `good` counts accepted steps; `time`, `dt` and `before` belong to the last of them, `before` being the
    rate at its start. With `stop` the host takes the next step; steps after it do not count.
    """


@dataclass(frozen=True)
class StepClock:
    """Clock for steps of a `scheme`, by the scalar `rate` = max(|u|/dx + |v|/dy + |w|/dz), and diffusive rates."""

    scheme: TimeScheme
    diffusion: DiffusionTerms
    rate: str = "rate"

    def partition(self, main: Partition, dtype: str) -> Partition:
        """Return the partition of the clock's cell, on the blocks of `main`."""
        region = Region(Box.of((1, 1, 1)), FieldSpace([Field(CELL, dtype)]), ghost=0)
        return Partition(region, main.shape, replicated=True)

    def __call__(self, f: Roles) -> Launch:
        stages = [names["dt"] for names in self.scheme.names]
        stages += [f"{CLOCK}.unused_{n}" for n in range(len(stages), STAGES)]
        ratios = [names["ratio"] for stage, names in zip(self.scheme.stages, self.scheme.names, strict=True)
                  if stage.ratio is None]  # fmt: skip
        return advance_clock(
            f[CELL], over=Box.of((1, 1, 1)), now=STATE, limit=LIMIT, rate=self.rate, eddy=self.diffusion.eddy,
            state=STATE, dt_1=stages[0], dt_2=stages[1], dt_3=stages[2], ratio=(*ratios, f"{CLOCK}.unused")[0],
        )  # fmt: skip

    @property
    def terms(self) -> dict[str, float]:
        """The limits that follow from the scheme and from diffusion."""
        d, shares = self.diffusion, [stage.share for stage in self.scheme.stages]
        shares += [0.0] * (STAGES - len(shares))
        return {
            "once": d.once, "viscosity": d.viscosity, "diffusivity": d.diffusivity, "part": d.part,
            "bounded_diffusivity": d.bounded or 0.0, "euler": max(shares),
            **{f"share_{n}": share for n, share in enumerate(shares, start=1)},
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class ClockedStep:
    """The program of `times` steps, each followed by the clock."""

    step: Program
    clock: StepClock
    times: int = 1

    def __call__(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        for _ in range(self.times):
            yield from self.step(f)
            yield self.clock(f)


def limit_scalars(limits: Mapping[str, float]) -> dict[str, float]:
    """Return the scalars of limits by name. Raises KeyError if one is missing."""
    return dict(zip(numbered(LIMIT, len(LIMIT_NAMES)), (limits[name] for name in LIMIT_NAMES), strict=True))


def state_scalars(state: Mapping[str, float]) -> dict[str, float]:
    """Return the scalars of a state, 0 for omitted ones."""
    return dict(zip(numbered(STATE, len(STATE_NAMES)), (state.get(name, 0.0) for name in STATE_NAMES), strict=True))


def state_of(values: Sequence[float]) -> dict[str, float]:
    """Return the numbers of a state by name, from the values of its scalars."""
    return dict(zip(STATE_NAMES, values, strict=True))


def of_clock(scalar: str) -> bool:
    """Return True for a scalar of the clock, which no checkpoint needs."""
    return scalar.startswith(f"{CLOCK}.")
