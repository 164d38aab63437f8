"""Capabilities of flows on boxes: of any system of them, and of the projection, a case's own if it names no other."""

from taskflow.cases.language.capabilities import HEAT_ON_SIDES, TIMED, Supports

NO_PHASES = "one fluid has no phases; omit it, or give a table [two_phase]"
WORK = "the budget has no term for its work; omit one of them"

ON_WALLS = ("velocity", "temperature", "heat_flux", "outside_temperature")
FLOW = Supports(
    places=HEAT_ON_SIDES | {
        "boundaries", "fluid", "heat", "scalars", "turbulence", "body", "obstacles", "bodies", "initial", "surfaces",
        "grid.stretching", "time.scheme", "statistics.budget", "boundaries.wall.roughness", TIMED,
    },
    lacks={
        "obstacles.motion": None,
        "boundaries.wall.velocity.timed.placed": None,
        "boundaries.outflow.pressure.nonzero": None,
        "boundaries.outflow.pressure.timed": None,
        "boundaries.vent": None,
        "boundaries.inflow.phase": NO_PHASES,
        "boundaries.vent.phase": NO_PHASES,
        "boundaries.wall.contact_angle": NO_PHASES,
    },
    apart={
        ("statistics.budget", "body.force.timed"): WORK,
        ("body.geostrophic_wind", "body.rotation.timed"): "give body.force instead",
        **{("boundaries.wall.roughness", f"boundaries.wall.{key}.timed"): "give numbers there" for key in ON_WALLS},
        ("turbulence.damping.van-driest", "boundaries.wall.velocity.timed"): 'give turbulence.damping = "none"',
        ("scalars.boundaries.flux.timed", "turbulence"): "give a number",
        ("isosurfaces", "obstacles"): None,
    },
)  # fmt: skip
"""What a system derived from `FlowSystem` supports, unless it says otherwise."""

PROJECTION = Supports(
    places={
        *FLOW.places, "openings", "forcing", "pressure", "expressions", "particles", "pictures", "monitor.fields",
        "time.implicit",
    },
    lacks={place: reason for place, reason in FLOW.lacks.items() if reason}
    | dict.fromkeys(("openings.phase", "openings.contact_angle"), NO_PHASES),
    apart={
        **FLOW.apart,
        **{("statistics.budget", f"forcing.on.{velocity}"): WORK for velocity in "uvw"},
        ("boundaries.wall.velocity.timed.placed", "turbulence"): "give numbers",
        **{(f"{place}.pressure.{sort}", "bodies.treatment.immersed"): 'give 0, or bodies.treatment = "flagged"'
           for place in ("openings", "boundaries.outflow", "boundaries.vent") for sort in ("nonzero", "timed")},
        ("openings.obstacle", "obstacles.motion"): None,
        ("openings.obstacle", "bodies.treatment.immersed"): 'give "flagged"',
        ("openings.obstacle", "statistics.budget"): None,
        **{("openings.roughness", f"openings.{key}.timed"): "give numbers there" for key in ON_WALLS},
        ("bodies.treatment.immersed", "particles"): 'give "flagged", or omit particles',
        ("time.scheme", "obstacles.motion"): 'give "ab2"',
        ("body.bulk_velocity", "obstacles.motion"): None,
        ("statistics.budget", "obstacles.motion"): None,
        ("obstacles.motion", "obstacles.type.heights"): None,
        ("time.implicit", "turbulence"): None,
        ("time.implicit", "obstacles"): None,
        ("time.implicit", "body.bulk_velocity"): None,
    },
)  # fmt: skip
"""What the projection supports."""
