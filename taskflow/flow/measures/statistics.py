"""Running statistics of a flow: means and covariances in time in every cell, weighted by the time between samples.

A sample whose weight is the fraction a of all weights so far updates means and covariances by

    mean(q)   <- mean(q) + a q',    q' = q - mean(q)
    cov(q, r) <- (1 - a) (cov(q, r) + a q' r')

(D. H. D. West 1979, Commun. ACM 22, 532), which avoids the cancellation of sums of squares.

All values are in cell centres. A velocity there is the mean of the cell's two faces, which are equally far from the
centre on any grid. Velocities that are located in centres are treated like scalars.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import Literal

from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.grid.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.flow.kernels import KERNELS
from taskflow.flow.measures.energy_budget import EnergyBudget
from taskflow.runtime.regions import Box, Location
from taskflow.runtime.tasks import Components, Launch, Read, ReadWrite, Roles, Scalar, Task, task

VELOCITY = ("u", "v", "w")
SHARE = "share"
TEXT = KERNELS / "statistics.cu"


def _read_write(*names: str) -> Components:
    return Components(**dict.fromkeys(names, ReadWrite))


FACES = {"u": Read[ACROSS_X], "v": Read[ACROSS_Y], "w": Read[ACROSS_Z]}
MEANS = _read_write("mean_u", "mean_v", "mean_w")


@task(kernel=TEXT)
def velocity_means(values: Components(**FACES), means: MEANS, *, share: Scalar) -> None:
    """Update the means of u, v, w with a sample of this share."""


@task(kernel=TEXT)
def velocity_moments(
    values: Components(**FACES), means: MEANS, covariances: _read_write("uu", "uv", "uw", "vv", "vw", "ww"),
    *, share: Scalar,
) -> None:  # fmt: skip
    """Update means, variances and covariances of u, v, w with a sample of this share."""


@task(kernel=TEXT)
def scalar_mean(values: Components(q=Read), means: _read_write("mean_q"), *, share: Scalar) -> None:
    """Update the mean of q with a sample of this share."""


@task(kernel=TEXT)
def scalar_moments(
    values: Components(q=Read), means: _read_write("mean_q"), covariances: _read_write("qq"), *, share: Scalar
) -> None:
    """Update mean and variance of q with a sample of this share."""


@task(kernel=TEXT)
def flow_moments(
    values: Components(**FACES, q=Read), means: _read_write("mean_u", "mean_v", "mean_w", "mean_q"),
    covariances: _read_write("uu", "uv", "uw", "uq", "vv", "vw", "vq", "ww", "wq", "qq"), *, share: Scalar,
) -> None:  # fmt: skip
    """Update means, variances and covariances of u, v, w, q with a sample of this share."""


@task(kernel=TEXT)
def carried_moments(
    values: Components(**FACES, q=Read), means: Components(mean_u=Read, mean_v=Read, mean_w=Read, mean_q=ReadWrite),
    covariances: _read_write("uq", "vq", "wq", "qq"), *, share: Scalar,
) -> None:  # fmt: skip
    """Update mean and variance of q and its covariances with u, v, w, given the previous means of u, v, w."""


@task(kernel=TEXT)
def scalar_covariance(
    values: Components(q=Read, r=Read), means: Components(mean_q=Read, mean_r=Read), covariances: _read_write("qr"),
    *, share: Scalar,
) -> None:  # fmt: skip
    """Update the covariance of q and r with a sample of this share, given the previous means."""


def mean_of(name: str) -> str:
    """Return the role of the mean of a field."""
    return f"mean_{name}"


def covariance_of(one: str, other: str) -> str:
    """Return the role of the covariance of two fields, or of the variance of one."""
    return f"cov_{one}_{other}"


@dataclass(frozen=True)
class Statistics:
    """Means of the fields `names` over the cells of `over` and, for `order` 2, all their variances and covariances.

    u, v and w come first in `names`, or are all absent. With `centred` they are in cell centres. `begin` must precede
    the first `sample`, which reads the scalar share: the weight of the sample over all weights including its own. A
    `budget` needs u, v, w and order 2.
    """

    names: tuple[str, ...]
    over: Box | tuple[Box, ...]
    order: Literal[1, 2] = 2
    budget: EnergyBudget | None = None
    centred: bool = False

    @property
    def means(self) -> dict[str, str]:
        """Roles of means, with the averaged fields."""
        return {mean_of(name): name for name in self.names}

    @property
    def covariances(self) -> dict[str, tuple[str, str]]:
        """Roles of covariances, with their two fields."""
        pairs = combinations_with_replacement(self.names, 2) if self.order == 2 else ()
        return {covariance_of(*pair): pair for pair in pairs}

    @property
    def written(self) -> tuple[str, ...]:
        """Roles of the recorded fields, all in cell centres."""
        return *self.means, *self.covariances, *(self.budget.written if self.budget else ())

    @property
    def fields(self) -> dict[str, Location]:
        """All fields by role, with their location."""
        fields: dict[str, Location] = dict.fromkeys((*self.means, *self.covariances), "c")
        return fields | (self.budget.fields if self.budget else {})

    @property
    def roles(self) -> tuple[str, ...]:
        """Roles of all fields that samples change."""
        return tuple(self.fields)

    def begin(self, f: Roles) -> Iterator[Launch]:
        """Discard all samples."""
        for name in (*self.means, *self.covariances):
            yield impose(f[name], over=self.over, value=Value(0.0))
        if self.budget:
            yield from self.budget.begin(f)

    def sample(self, f: Roles) -> Iterator[Launch]:
        """Add the current state as a sample, to covariances first, because they need the previous means."""
        if self.budget:
            pairs = combinations_with_replacement(VELOCITY, 2)
            yield from self.budget.sample(f, SHARE, [covariance_of(*pair) for pair in pairs])
        scalars = tuple(name for name in self.names if self.centred or name not in VELOCITY)
        flowing = len(scalars) < len(self.names)
        if self.order == 1:
            for name in scalars:
                yield self._launch(f, scalar_mean, (name,), [])
            if flowing:
                yield self._launch(f, velocity_means, VELOCITY, [])
            return
        for pair in combinations(scalars, 2):
            yield self._launch(f, scalar_covariance, pair, [pair])
        if not flowing:
            for name in scalars:
                yield self._launch(f, scalar_moments, (name,), [(name, name)])
            return
        for name in scalars[1:]:
            crossed = [(other, name) for other in (*VELOCITY, name)]
            yield self._launch(f, carried_moments, (*VELOCITY, name), crossed)
        together = VELOCITY + scalars[:1]
        kind = flow_moments if scalars else velocity_moments
        yield self._launch(f, kind, together, list(combinations_with_replacement(together, 2)))

    def _launch(self, f: Roles, kind: Task, names: tuple[str, ...], pairs: list[tuple[str, str]]) -> Launch:
        roles = [names, [mean_of(name) for name in names], [covariance_of(*pair) for pair in pairs]]
        fields = (tuple(f[role] for role in group) for group in roles if group)
        return kind(*fields, over=self.over, share=SHARE)
