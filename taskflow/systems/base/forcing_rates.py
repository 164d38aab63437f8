"""The rates at which forces given by formulas make fields relax, oscillate or grow at the start, and whether steps can
follow them.

They are eigenvalues of the matrix dF/dq, the derivatives of all forces by all forced fields: several forces may act on
one field, and a force may read the fields of others, as in a rotation or a chain of reactions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.flow.time.schemes import USUAL_CFL, TimeScheme
from taskflow.systems.base.expressions import InitialForce, Places
from taskflow.systems.initial.side_profiles import times_of

SHARE = 1e-6  # of the size of a field: differences that give rates
SHORTEST = 4.0  # eigenvalue over diffusion number of the shortest waves, for which `TimeScheme.diffusion` is the limit
ALONE, TOGETHER = ("it relaxes", "it turns", "it makes"), ("they relax", "they turn", "they make")


@dataclass(frozen=True)
class ForcingRates:
    """Largest rates of relaxation, growth and, in radians per time, oscillation. Unknown rates are 0."""

    relaxation: float = 0.0
    growth: float = 0.0
    frequency: float = 0.0

    @classmethod
    def of(cls, forces: Sequence[InitialForce]) -> ForcingRates:
        """Return the rates of forces together, at a sample of the times and of the places of each."""
        if not all(force.known for force in forces):
            return cls()
        try:
            found = np.concatenate([_eigenvalues(forces, force.places) for force in forces])
        except BadInput:
            return cls()  # near the initial values one is invalid
        parts = -found.real, found.real, np.abs(found.imag)
        return cls(*(max(0.0, float(part.max(initial=0.0))) for part in parts))


def _eigenvalues(forces: Sequence[InitialForce], places: Places) -> np.ndarray:
    names = list(dict.fromkeys(force.table.on for force in forces))
    shape, found = np.broadcast_shapes(*(np.shape(along) for along in places)), []
    if 0 in shape:
        return np.zeros(0)
    for time in times_of(forces[0].case):
        matrix = np.zeros((*shape, len(names), len(names)))
        for force in forces:
            fields = force.fields_at(places)
            for column, name in enumerate(names):
                if name in fields:
                    change = SHARE * max(1.0, float(np.abs(fields[name]).max()))
                    low, high = (
                        force.at(places, time, {**fields, name: fields[name] + sign * change}) for sign in (-1, 1)
                    )
                    matrix[..., names.index(force.table.on), column] += (high - low) / (2 * change)
        found.append(np.linalg.eigvals(matrix).reshape(-1))
    return np.concatenate(found)


def cautions(forces: Sequence[InitialForce], dt: float, scheme: TimeScheme) -> Iterator[str]:
    """Yield warnings of forces, alone and together, that act faster than steps of this length can follow."""
    end, said = forces[0].case.end_time if forces else None, set[str]()
    for force in forces:
        found = _cautions(ForcingRates.of([force]), dt, scheme, end, ALONE, force.table.on)
        said |= found.keys()
        yield from (f"{force.key}: {words}" for words in found.values())
    if len(forces) > 1:
        names = ", ".join(dict.fromkeys(force.table.on for force in forces))
        found = _cautions(ForcingRates.of(forces), dt, scheme, end, TOGETHER, names)
        yield from (f"forcing, all expressions together: {words}" for kind, words in found.items() if kind not in said)


def _cautions(
    rates: ForcingRates, dt: float, scheme: TimeScheme, end: float | None, verbs: tuple[str, str, str], names: str
) -> dict[str, str]:
    relax, turn, make = verbs
    cautions, dt = dict[str, str](), min(dt, end or dt)
    for kind, verb, rate, most in (
        ("relaxation", relax, rates.relaxation, SHORTEST * scheme.diffusion / dt),
        ("rotation", turn, rates.frequency, (scheme.cfl or scheme.tolerated) / dt),
    ):
        if rate > most:
            cautions[kind] = (
                f"at the start {verb} {names} at a rate of {rate:.3g}, and steps of {dt:.3g} are stable up to"
                f" {most:.3g}; give a smaller time.step or time.cfl, or a slower rate"
            )
    if rates.growth * dt > USUAL_CFL:
        cautions["growth"] = (
            f"at the start {make} {names} grow at a rate of {rates.growth:.3g}, which steps of {dt:.3g} cannot"
            f" follow; give a time.step of at most {USUAL_CFL / rates.growth:.2g}"
        )
    return cautions
