"""What sides must have in common with one another and with the rest of a case."""

from collections.abc import Iterator

from taskflow.simulation.case.boundaries import AXES, FACES, Boundaries
from taskflow.simulation.case.initial import Initial
from taskflow.simulation.case.physics import Grid, Heat
from taskflow.simulation.case.problems import Problem, wrong
from taskflow.simulation.case.table import written

NO_HEAT = "this case has no temperature; add a [heat] table with diffusivity, or leave it out"


def _walls_have_room(grid: Grid, boundaries: Boundaries) -> Iterator[Problem]:
    for face in FACES:
        side = getattr(boundaries, face)
        axis = face[0]
        if side and side.type in ("wall", "inflow", "outflow") and grid.cells[AXES.index(axis)] == 1:
            kind = f"{'a' if side.type == 'wall' else 'an'} {side.type}"
            remedy = f'one cell in {axis} has no room for {kind}; give {axis} = "periodic" for 2D, or more cells'
            yield wrong(("boundaries", face), side.written(), remedy)


def _heat_is_on(heat: Heat | None, boundaries: Boundaries, initial: Initial) -> Iterator[Problem]:
    for face in FACES:
        side = getattr(boundaries, face)
        for option in ("temperature", "heat_flux", "heat_transfer"):
            value = getattr(side, option, None)
            if value is None:
                continue
            if heat is None:
                yield wrong(("boundaries", face, option), written(value), NO_HEAT)
            elif option != "temperature" and value != 0 and heat.diffusivity == 0:
                yield wrong(("boundaries", face, option), value, "no heat flows without heat.diffusivity; give one")
        table = getattr(side, "table", None)
        if heat is None and table and "T" in table.names:
            message = "it has T, but this case has no temperature; add a [heat] table, or leave the column out"
            yield wrong(("boundaries", face, "table"), table.source, message)
    if heat is None and initial.temperature is not None:
        yield wrong(("initial", "temperature"), initial.temperature.source, NO_HEAT)


def _outflow_is_determined(boundaries: Boundaries) -> Iterator[Problem]:
    """Convection knows how fast, but not how much leaves through which of several sides; pressure does."""
    sides = {face: side for face in FACES if (side := getattr(boundaries, face))}
    leaving = [face for face, side in sides.items() if side.type == "outflow"]
    carried = [face for face in leaving if sides[face].pressure != 0]
    for face in carried:
        if len(leaving) > 1:
            yield wrong(
                ("boundaries", face), sides[face].written(),
                f"with {len(leaving)} outflows pressure decides how much leaves where; give all of them pressure = 0",
            )  # fmt: skip
        elif all(side.type != "inflow" for side in sides.values()):
            yield wrong(
                ("boundaries", face), sides[face].written(),
                "nothing enters that could leave; give an inflow, or the outflow pressure = 0",
            )  # fmt: skip


def _inflow_fits_its_side(boundaries: Boundaries) -> Iterator[Problem]:
    for face in FACES:
        side, axis = getattr(boundaries, face), AXES.index(face[0])
        law, table = getattr(side, "log_law", None), getattr(side, "table", None)
        inward = -1.0 if face.endswith("max") else 1.0
        if law and law.up == face[0]:
            yield wrong(("boundaries", face, "log_law", "up"), law.up, f"the wind would not blow through {face}")
        elif law and law.direction and law.direction[axis] * inward <= 0:
            sign = ">" if inward > 0 else "<"
            remedy = f"the wind has to blow in at {face}; give a direction with {face[0]} {sign} 0"
            yield wrong(("boundaries", face, "log_law", "direction"), law.direction, remedy)
        elif law and law.direction and law.direction[AXES.index(law.up)] != 0:
            remedy = f"the wind blows along the ground; give 0 as its {law.up} component"
            yield wrong(("boundaries", face, "log_law", "direction"), law.direction, remedy)
        if table and "T" in table.names and side.temperature is not None:
            remedy = "the table has T as well; give one of them"
            yield wrong(("boundaries", face, "temperature"), written(side.temperature), remedy)
        if table and face[0] in table.axes:
            remedy = f"{face} has one {face[0]}; leave the column {face[0]} out"
            yield wrong(("boundaries", face, "table"), table.source, remedy)


RULES = (
    (_walls_have_room, ("grid", "boundaries")),
    (_heat_is_on, ("heat", "boundaries", "initial")),
    (_outflow_is_determined, ("boundaries",)),
    (_inflow_fits_its_side, ("boundaries",)),
)
