"""Forces and sources that a case gives as formulas: sponges, relaxation, drag, canopies.

    du/dt = ... + F(u, v, w, T, c, ..., x, y, z, t)

and likewise for T and passive scalars. A formula is evaluated at the location of the quantity (see
`operators.formula`), explicitly like other terms: with the fields and the time at the start of a stage or, for bounded
quantities, at both of its ends, by Heun's method.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from taskflow.flow.grid import FACES, Grid, Vector
from taskflow.flow.operators.formula import INDICES, Formula, evaluating
from taskflow.runtime.regions import Box, Location
from taskflow.runtime.tasks import Launch, ReadByte, ReadShort, ReadWrite, Roles, Scalar, Task

FACE: dict[str, Location] = {"u": FACES[0], "v": FACES[1], "w": FACES[2]}
STEPPED = """
TASK {name}(Range range, InOut h, InOut q_new OPTIONAL(q_faces){fields}, In64 dt, In64 ratio{time}, Grid grid) {{
  STRIDES(range)
  const AdamsBashforth scheme(dt, ratio);{now}
  for_cells(range, CELL(c) {{
{values}
    const double rate = {text};
    const real F = ({kept}) ? real(0) : real(rate);
    const real H = h[c] + F, next = q_new[c] + scheme.gain(F);
    loaded();
    h[c] = H, q_new[c] = next;
  }});
}}
"""
BOUNDED = """
TASK {name}(Range range, InOut q OPTIONAL(q_faces){fields}, In64 dt{time}, real part, Grid grid) {{
  STRIDES(range)
  const real step = part * real(*dt);{now}
  for_cells(range, CELL(c) {{
{values}
    const real F = ({kept}) ? real(0) : real({text});
    q[c] += step * F;
  }});
}}
"""


@lru_cache(maxsize=256)
def forced(formula: Formula, on: str, origin: Vector, *, bounded: bool) -> Task:
    """Return the task that adds F to u, v, w or a quantity in cells. The same formula gives the same task.

    h += F, q_new += dt (1 + ratio/2) F, after the equation of the stage, so that h = H. If `bounded`, q += part dt F. F
    = 0 on walls, in solid cells, and on closed faces where it is not finite, by the flags in `q_faces`. Bodies take the
    momentum of their closed faces (see `stored`).
    """
    at: Location = FACE.get(on, "c")
    if at == "c":
        kept, flags = "is_kept(flags_of(q_faces, c))", ReadShort
    else:
        axis, flags = FACES.index(at), ReadByte
        shut = f"is_shut(flags_of(q_faces, c), {2 * axis})"
        kept = f"({INDICES[axis]} == grid.first[{axis}]) | ({shut} & (rate - rate != 0))"
    text, written = (BOUNDED, ("q",)) if bounded else (STEPPED, ("h", "q_new"))
    fields = {**dict.fromkeys(written, ReadWrite), "q_faces": flags | None}
    scalars = ("dt", *(() if bounded else ("ratio",)), *(("time",) if formula.timed else ()))
    numbers = {**dict.fromkeys(scalars, Scalar), **({"part": float} if bounded else {}), "grid": Grid}
    about: dict[str, Any] = {"fields": fields, "numbers": numbers, "velocity": FACE, "kept": kept}
    return evaluating(f"force_{on}", text, formula, at, origin, **about)


@dataclass(frozen=True)
class FieldForce:
    """Force F `on` u, v, w or a named quantity, in the cells of a box. The low corner of the domain is at `origin`."""

    on: str
    formula: Formula
    box: Box
    origin: Vector

    def act(self, f: Roles, names: Mapping[str, str], time: str, grid: Grid, flags: str | None) -> Launch:
        """Return the launch of a stage with the scalars dt and ratio called `names`, which starts at `time`."""
        task = forced(self.formula, self.on, self.origin, bounded=False)
        fields = (f[name] for name in self.formula.fields)
        return task(f[f"h_{self.on}"], f[f"{self.on}_new"], flags, *fields, over=self.box, grid=grid, **names,
                    **self._at(time))  # fmt: skip

    def release(self, q: str, f: Roles, part: float, dt: str, time: str, grid: Grid, flags: str | None) -> Launch:
        """Return the launch that adds `part` of F dt at `time` to a bounded quantity q. Roles are of that time."""
        task = forced(self.formula, self.on, self.origin, bounded=True)
        fields = (f[name] for name in self.formula.fields)
        return task(q, flags, *fields, over=self.box, dt=dt, part=part, grid=grid, **self._at(time))

    def _at(self, time: str) -> dict[str, str]:
        return {"time": time} if self.formula.timed else {}


def stage_times(
    forces: tuple[FieldForce, ...], endings: tuple[str, ...], ends: tuple[float, ...], time: float, dt: float
) -> dict[str, float]:  # fmt: skip
    """Return start and end times of the stages, by suffixed names, if a force depends on time."""
    if not any(force.formula.timed for force in forces):
        return {}
    begins = (0.0, *ends[:-1])
    times = {f"begins{ending}": time + share * dt for ending, share in zip(endings, begins, strict=True)}
    return times | {f"ends{ending}": time + share * dt for ending, share in zip(endings, ends, strict=True)}
