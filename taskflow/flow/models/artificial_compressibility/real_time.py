"""The programs of a physical time step: time levels, and pseudo-time between them. See `dual_time`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from taskflow.flow.kernels import KERNELS
from taskflow.flow.models.artificial_compressibility import measures
from taskflow.flow.models.artificial_compressibility.bodies import fill_closed, pressure_in_closed
from taskflow.flow.models.artificial_compressibility.dual_time import BEFORE, CHANGE, NOW, RATIO, DualTime
from taskflow.flow.models.artificial_compressibility.flow_on_charts import CollocatedFlow
from taskflow.flow.models.artificial_compressibility.residuals import norm, residuals
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Derive, Launch, Read, ReadWrite, Repeat, Roles, Scalar, Write, repeat, task

TEXT = KERNELS / "artificial_compressibility" / "dual_time.cu"
DIVERGENCE = 1e-4  # of reference speed / length
TINY = 1e-300
TO_EXCEED = "p_new"  # a scalar, and the role in which cells have it: see `measures.compressibility_to_exceed`
LOOKS = "looks"  # the scalar that counts looks in a step


@task(kernel=TEXT)
def begin_levels(q: Read, old: Write, past: Write | None) -> None:
    """old = q, past = 0: before the first step."""


@task(kernel=TEXT)
def next_level(
    q: ReadWrite, old: ReadWrite, past: Write | None, given: Read | None,
    *, ratio: Scalar, now: Scalar | None, before: Scalar | None,
) -> None:  # fmt: skip
    """past = given + now q + before old; then old = q, and q = q + ratio (q - old) with the former old."""


def start(model: CollocatedFlow, f: Roles) -> Iterator[Launch]:
    """Initialise the levels: the first state has no earlier one."""
    yield from model.level(f)
    for name in model.state:
        past = None if name == "p" else f[f"past_{name}"]
        yield begin_levels(f[name], f[f"old_{name}"], past, over=model.cells)
    lo = model.cells[0].lo
    one = Box(lo, (lo[0] + 1, lo[1] + 1, lo[2] + 1))
    yield measures.value(f.past_u, over=one, number=f.scalar(CHANGE))  # 0: the first measured state has no rate
    yield _fastest(model, f)


def step(real: DualTime, model: CollocatedFlow, f: Roles) -> Iterator[Launch | Repeat | Derive]:
    """Advance one level: a first guess extrapolated linearly from the last two levels, then pseudo-time."""
    forces = dict(zip("uvw", (f.f_x, f.f_y, f.f_z), strict=True)) if model.body_force else {}
    for name in model.state:
        changes = name != "p"
        yield next_level(
            f[name], f[f"old_{name}"], f[f"past_{name}"] if changes else None, forces.get(name), over=model.cells,
            ratio=f.scalar(RATIO), now=f.scalar(NOW) if changes else None,
            before=f.scalar(BEFORE) if changes else None,
        )  # fmt: skip
    yield from model.refresh(f)
    yield from _measure(model, f, "first_")
    yield from model.begin_march(f)
    looks, reached = -(-real.iterations // model.look), partial(_reached, real, model)
    yield repeat(partial(_round, model), looks, until=reached, lag=False, count=LOOKS)
    yield from model.level(f)
    yield _fastest(model, f)
    if model.moving_bodies:
        filled = f["p_new"]
        yield pressure_in_closed(f.p, f.fluid, filled, over=model.cells, numbers=model.numbers)
        yield fill_closed(f.p, f.old_p, filled, f.fluid, over=model.cells)
    if model.moves:
        yield measures.compressibility_to_exceed(
            (f.u, f.v, f.w), model.metrics(f), f.swept, f[TO_EXCEED],
            over=model.cells, most=f.scalar(TO_EXCEED), numbers=model.numbers,
        )  # fmt: skip


def _round(model: CollocatedFlow, f: Roles) -> Iterator[Launch | Repeat | Derive]:
    def twice(f: Roles) -> Iterator[Launch | Repeat | Derive]:
        yield from model.pseudo_step(f)
        yield from model.pseudo_step(f)

    yield repeat(twice, model.look // 2)
    yield from model.ghosts(f, "")
    yield from _measure(model, f, "")


def _measure(model: CollocatedFlow, f: Roles, prefix: str) -> Iterator[Launch]:
    """Measure the residuals of the step, from a state with ghost values, and the magnitudes of T and scalars."""
    yield from residuals(model, f, prefix)
    for name in model.carried:
        yield measures.largest(f[name], over=model.cells, most=f.scalar(f"size_{name}"))


def _fastest(model: CollocatedFlow, f: Roles) -> Launch:
    numbers = {"rate": f.scalar("rate"), "numbers": model.numbers}
    return measures.fastest((f.u, f.v, f.w), model.metrics(f), over=model.cells, **numbers)


def _reached(real: DualTime, model: CollocatedFlow, scalars: Mapping[str, float]) -> bool:
    """Return True if a step may end, also if its numbers are NaN."""
    return all(not times > 1 for times in left(real, model, scalars).values())


def left(real: DualTime, model: CollocatedFlow, scalars: Mapping[str, float]) -> dict[str, float]:
    """Return the residuals of momentum, transported quantities and continuity, each over its tolerance."""
    pace = model.speed / real.length * model.unit
    rates = model.speed * (scalars[CHANGE] + scalars["rate"] * model.unit)

    def share(least: float, *names: str) -> float:
        first = norm(model, scalars, *names, prefix="first_")
        return norm(model, scalars, *names) / max(real.tolerance * first, least, TINY)

    flow = {"momentum": share(real.rounding * rates, "u", "v", "w")}
    carried = {name: share(DIVERGENCE * pace * scalars[f"size_{name}"], name) for name in model.carried}
    return {**flow, **carried, "continuity": scalars["most_p"] / (DIVERGENCE * pace)}
