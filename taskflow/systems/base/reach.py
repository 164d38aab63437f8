"""Keys of [time] that ask for longer steps than possible, or that have no effect."""

from __future__ import annotations

from collections.abc import Iterator

from taskflow.cases import Case
from taskflow.flow.scalars.transport import CROSSINGS
from taskflow.flow.stability import FASTER, StepLimit
from taskflow.flow.time.schemes import USUAL_CFL

CAPILLARY = 1.0  # the largest stable time.capillary, after Brackbill et al. (1992)


def out_of_reach(case: Case, limit: StepLimit) -> Iterator[str]:
    """Warn of requested CFL, diffusion and capillary numbers that no step can reach."""
    given = case.time.model_fields_set
    if limit.fixed is not None:
        for key in ("diffusion", "capillary"):
            if key in given and getattr(case.time, key) is not None:
                yield f"time.{key} = {getattr(case.time, key):g} has no effect with time.step; omit one of them"
        return
    reach = _reach(limit)  # the default CFL number may be beyond it without a warning
    for key, asked, usual in (("cfl", limit.cfl, USUAL_CFL), ("diffusion", limit.diffusion, 0.0)):
        most, why = reach.get(key, (asked, ""))
        if asked > max(most, usual):
            yield f"time.{key} = {asked:g} is out of reach: {why}, steps have at most {most:.3g}; give less"


def _reach(limit: StepLimit) -> dict[str, tuple[float, str]]:
    """Return the largest numbers allowed by other bounds, by key, each with the reason."""
    reach = {}
    if limit.bounded is not None:
        most = (1 - FASTER) / (max(stage.share for stage in limit.scheme.stages) * CROSSINGS)
        reach["cfl"] = most, "so that heat or scalars stay within their bounds"
    if limit.damping is not None:
        why = "convection and diffusion are bounded together"
        reach["diffusion"] = (1 - FASTER) / 4, why
        if limit.damping:
            joint = (1 - FASTER) / limit.damping, why
            reach["cfl"] = min(joint, reach.get("cfl", joint))
    return reach


def capillary_out_of_reach(case: Case) -> Iterator[str]:
    """Warn of a capillary number without surface tension, or above the stability limit."""
    asked = case.time.capillary
    if asked is None or case.time.step is not None:
        return
    if not case.own.surface_tension:
        yield f"time.capillary = {asked:g} has no effect without two_phase.surface_tension; omit it"
    elif asked > CAPILLARY:
        yield f"time.capillary = {asked:g} is out of reach: capillary waves are followed up to {CAPILLARY:g}; give less"
