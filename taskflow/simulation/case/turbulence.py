"""The model of unresolved eddies: [turbulence]."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import model_validator

from taskflow.flow import StaggeredGrid
from taskflow.flow.turbulence.eddy_viscosity import PRANDTL, Smagorinsky, Vreman, Wale
from taskflow.simulation.case.boundaries import Boundaries
from taskflow.simulation.case.problems import Problem, present, wrong
from taskflow.simulation.case.table import NonNegative, Positive, Table, entry, reads
from taskflow.simulation.values import one_of

MODELS = {"smagorinsky": Smagorinsky, "wale": Wale, "vreman": Vreman}
Model = Literal["smagorinsky", "wale", "vreman"]


class Turbulence(Table):
    """Large-eddy simulation."""

    model: Annotated[Model, reads(one_of(*MODELS))] = entry(
        "what the eddy viscosity is made of", remedy='give "smagorinsky", "wale" or "vreman"'
    )
    constant: NonNegative | None = entry(
        "of the model", None, otherwise="`smagorinsky` 0.17, `wale` 0.5, `vreman` 0.07"
    )
    prandtl: Positive = entry("turbulent Prandtl number: eddy viscosity over eddy diffusivity", PRANDTL)
    damping: Annotated[Literal["van-driest", "none"] | None, reads(one_of("van-driest", "none"))] = entry(
        "of `smagorinsky`, beside smooth walls", None, otherwise="`van-driest`"
    )

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        if _model(values) in ("wale", "vreman"):
            for key in present(values, "damping"):
                yield wrong(key, values[key], "its viscosity vanishes at walls of itself; leave it out")

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, values: Any) -> Any:
        model = _model(values)
        if model is None:
            return values
        filled = {**values} if present(values, "constant") else {**values, "constant": MODELS[model]().constant}
        if model == "smagorinsky" and not present(values, "damping"):
            filled["damping"] = "van-driest"
        return filled


def _model(values: Any) -> str | None:
    """The name of a model that there is."""
    model = values.get("model") if isinstance(values, Mapping) else None
    return model if isinstance(model, str) and model in MODELS else None


def _rough_walls_are_resolved(
    cells: StaggeredGrid, boundaries: Boundaries, turbulence: Turbulence | None
) -> Iterator[Problem]:
    for face, side in boundaries.sides.items():
        key, most = ("boundaries", face, "roughness"), cells.constants.beside(face) / 2
        if side.roughness is not None and turbulence is None:
            yield wrong(key, side.roughness, "the law of the wall is one of turbulent flow; add a [turbulence] table")
        elif side.roughness is not None and side.roughness > most:
            remedy = f"the first cell is not as far from the wall; give at most {most:g}, or fewer cells in {face[0]}"
            yield wrong(key, side.roughness, remedy)


RULES = (_rough_walls_are_resolved,)
