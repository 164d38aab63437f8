"""Steps of real time by BDF2 with variable steps, and pseudo-time within each of them ("dual time"; A. Jameson 1991,
AIAA 91-1596; in the way of L. Luo et al. 2014).

    du/dtau + rate u - past + R(u) / V = 0,    rate = c_0 / dt,    past = -(c_1 u^n + c_2 u^(n-1)) / dt

c_0 = (1 + 2 r) / (1 + r), c_1 = -(1 + r), c_2 = r^2 / (1 + r), with r = dt / (the step before). The first step is one
of Euler's: 1, -1, 0. T and passive scalars have the same terms, the pressure has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from taskflow.flow.kernels import KERNELS
from taskflow.flow.models.artificial_compressibility import measures
from taskflow.flow.models.artificial_compressibility.residuals import norm, residuals
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Derive, Launch, Read, ReadWrite, Repeat, Roles, Scalar, Write, repeat, task

if TYPE_CHECKING:
    from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility

TEXT = KERNELS / "artificial_compressibility" / "dual_time.cu"
DIVERGENCE = 1e-4  # of reference speed / length
TINY = 1e-300
CHANGE, NOW, BEFORE, RATIO = "change", "now", "before", "ratio"
TO_EXCEED = "p_new"  # a scalar, and the role in which cells have it: see `measures.compressibility_to_exceed`
LOOKS = "looks"  # the scalar that says how many there were in a step


def weights(ratio: float) -> tuple[float, float, float]:
    """c_0, c_1, c_2 of a step `ratio` times as long as the one before; 0: of the first one."""
    return (1 + 2 * ratio) / (1 + ratio), -(1 + ratio), ratio**2 / (1 + ratio)


@task(kernel=TEXT)
def begin_levels(q: Read, old: Write, past: Write | None) -> None:
    """old = q, past = 0: before the first step."""


@task(kernel=TEXT)
def next_level(
    q: ReadWrite, old: ReadWrite, past: Write | None, given: Read | None,
    *, ratio: Scalar, now: Scalar | None, before: Scalar | None,
) -> None:  # fmt: skip
    """past = given + now q + before old; then q + ratio (q - old) in q, and the q there was in old."""


@dataclass(frozen=True)
class DualTime:
    """A step ends when the residuals of momentum, heat and scalars have fallen to `tolerance` times those at its
    beginning, and max |div u| is at most 1e-4 reference speed / `length`; after so many `iterations` of pseudo-time at
    the latest. What is carried need not get below 1e-4 (reference speed / length) max |q|, as a divergence of that
    size leaves as much; `rounding` is what a balance of momentum has of its largest terms. `rest`: the rate from which
    a step follows as long as nothing moves.
    """

    tolerance: float = 1e-3
    iterations: int = 500
    length: float = 1.0
    rounding: float = 1e-12
    rest: float = 1.0

    def fields(self, state: tuple[str, ...]) -> list[str]:
        """The level before of all that has one, and what the levels before add to a step."""
        return [f"old_{name}" for name in state] + [f"past_{name}" for name in state if name != "p"]

    def scalars(self, dt: float, ratio: float) -> dict[str, float]:
        """The numbers of a step of dt, `ratio` times as long as the one before (0: the first)."""
        c = weights(ratio)
        return {CHANGE: c[0] / dt, NOW: -c[1] / dt, BEFORE: -c[2] / dt, RATIO: ratio}

    def rate(self, model: ArtificialCompressibility, scalars: Mapping[str, float]) -> float:
        """The largest sum of |u.S| / V, at least reference speed / length."""
        fastest = scalars["rate"]
        return max(fastest, model.speed / self.length) if fastest else self.rest

    def start(self, model: ArtificialCompressibility, f: Roles) -> Iterator[Launch]:
        """The first state, which has no level before."""
        yield from model.level(f)
        for name in model.state:
            past = None if name == "p" else f[f"past_{name}"]
            yield begin_levels(f[name], f[f"old_{name}"], past, over=model.cells)
        lo = model.cells[0].lo
        one = Box(lo, (lo[0] + 1, lo[1] + 1, lo[2] + 1))
        yield measures.value(f.past_u, over=one, number=f.scalar(CHANGE))  # 0: what is measured first has no rate
        yield self.fastest(model, f)

    def step(self, model: ArtificialCompressibility, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """From one level to the next: a first guess along a line through the last two, then pseudo-time."""
        forces = dict(zip("uvw", (f.f_x, f.f_y, f.f_z), strict=True)) if model.body_force else {}
        for name in model.state:
            changes = name != "p"
            yield next_level(
                f[name], f[f"old_{name}"], f[f"past_{name}"] if changes else None, forces.get(name), over=model.cells,
                ratio=f.scalar(RATIO), now=f.scalar(NOW) if changes else None,
                before=f.scalar(BEFORE) if changes else None,
            )  # fmt: skip
        yield from model.renew(f)
        yield from self.measure(model, f, "first_")
        yield from model.begin_march(f)
        rounds, reached = -(-self.iterations // model.look), partial(self.reached, model)
        yield repeat(partial(self._round, model), rounds, until=reached, lag=False, count=LOOKS)
        yield from model.level(f)
        yield self.fastest(model, f)
        if model.moves:
            metrics = None if model.spacing else f.metrics
            yield measures.compressibility_to_exceed(
                (f.u, f.v, f.w), metrics, f.swept, f[TO_EXCEED],
                over=model.cells, most=f.scalar(TO_EXCEED), numbers=model.numbers,
            )  # fmt: skip

    def _round(self, model: ArtificialCompressibility, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        def twice(f: Roles) -> Iterator[Launch | Repeat | Derive]:
            yield from model.pseudo_step(f)
            yield from model.pseudo_step(f)

        yield repeat(twice, model.look // 2)
        yield from model.ghosts(f, "")
        yield from self.measure(model, f, "")

    def measure(self, model: ArtificialCompressibility, f: Roles, prefix: str) -> Iterator[Launch]:
        """The residuals of the step, of a state with ghost values, and how large T and scalars are."""
        yield from residuals(model, f, prefix)
        for name in model.carried:
            yield measures.largest(f[name], over=model.cells, most=f.scalar(f"size_{name}"))

    @staticmethod
    def fastest(model: ArtificialCompressibility, f: Roles) -> Launch:
        """The rate from which the next step follows."""
        metrics = None if model.spacing else f.metrics
        velocity = (f.u, f.v, f.w)
        return measures.fastest(velocity, metrics, over=model.cells, rate=f.scalar("rate"), numbers=model.numbers)

    def reached(self, model: ArtificialCompressibility, scalars: Mapping[str, float]) -> bool:
        """Whether a step may end; also where its numbers are none."""
        return all(not left > 1 for left in self.left(model, scalars).values())

    def left(self, model: ArtificialCompressibility, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return, for momentum, what is carried, and continuity, how many times what it may be the residual is."""
        pace = model.speed / self.length
        rates = model.speed * (scalars[CHANGE] + scalars["rate"])

        def share(least: float, *names: str) -> float:
            first = norm(model, scalars, *names, prefix="first_")
            return norm(model, scalars, *names) / max(self.tolerance * first, least, TINY)

        left = {"momentum": share(self.rounding * rates, "u", "v", "w")}
        left |= {name: share(DIVERGENCE * pace * scalars[f"size_{name}"], name) for name in model.carried}
        return left | {"continuity": scalars["most_p"] / (DIVERGENCE * pace)}
