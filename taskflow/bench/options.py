"""Options shared by several benchmarks, and parsers of their values: sizes, counts and names.

A dataclass of options is one parameter of a command (`spread`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_type_hints

import typer

from taskflow.terminal.exit_codes import refuse, refuse_options

if TYPE_CHECKING:
    from taskflow.bench.scaling import Growth
    from taskflow.bench.timing import TimingConditions

OVERLAPS: tuple[Literal["none", "comm", "full", "auto"], ...] = ("none", "comm", "full", "auto")
LEAST = 1e-6  # of a price and a power, by which rates are divided
SHAPES = ("1d", "2d", "3d", "strong")
Name = TypeVar("Name", bound=str)

Device = Annotated[Literal["auto", "cpu", "gpu"], typer.Option(help="What to measure.")]
Precision = Annotated[
    Literal["single", "double"] | None, typer.Option(help="Default: double on a CPU, single on a GPU.")
]
Shape = Annotated[
    Literal["1d", "2d", "3d", "strong"],
    typer.Option(help="Slabs as in the papers: domains that grow in z, in x and z, in x, y and z, or not at all."),
]
Blocks = Annotated[
    str, typer.Option(metavar="N|XxYxZ", help="Slabs along z, or blocks along x, y and z; one GPU each.")
]
Scale = Annotated[
    int | None, typer.Option(min=1, help="Divide a shape by this in every direction. Default: 1 on GPUs, 4 on CPUs.")
]
Overlap = Annotated[str, typer.Option(metavar="NAMES", help=f"Of {', '.join(OVERLAPS)}, with commas; or all.")]
Channel = Annotated[
    Literal["auto", "local", "peer", "ucx", "actor"], typer.Option(help="What carries messages between blocks.")
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Processes that hold the blocks, each on a thread: fewer than blocks.")
]
Graphs = Annotated[bool, typer.Option("--graphs/--no-graphs", help="On GPUs: replay as CUDA graphs.")]
Blocked = Annotated[
    bool, typer.Option("--blocked", help="Two sweeps in a pass over memory, as in the steps of a flow on GPUs.")
]
Seconds = Annotated[float, typer.Option(min=0.01, help="How long each measurement takes at least.")]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the numbers as JSON, too.")]
Counts = Annotated[
    str | None,
    typer.Option(metavar="N,N,...", help="Numbers of blocks. Default: 1,2,4,8, as far as there are GPUs or cores."),
]
Shapes = Annotated[str, typer.Option(metavar="NAMES", help=f"Of {', '.join(SHAPES)}, with commas.")]
Picture = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it, too (.png, .svg, .pdf).")]
Settings = Annotated[
    list[str],
    typer.Option("--set", metavar="table.key=VALUE", help="Replace another value of the case, as often as wanted."),
]
Solver = Annotated[str, typer.Option(metavar="NAME", help="Of the pressure, as pressure.solver in a case file.")]
Tolerance = Annotated[float | None, typer.Option(help="Relative tolerance of the solver, instead of iterations.")]
Price = Annotated[
    float | None,
    typer.Option(min=LEAST, help="Dollars for an hour of a GPU, or of a block's cores: prints cell-steps per dollar."),
]
Watts = Annotated[
    float | None,
    typer.Option(min=LEAST, help="What all blocks take together, if no driver counts their energy: cores."),
]


@dataclass(frozen=True)
class GrowthOptions:
    """Options of commands that measure an increasing number of blocks."""

    shapes: Shapes = "all"
    counts: Counts = None
    scale: Scale = None

    @property
    def growth(self) -> Growth:
        """Parsed options. Raises BadInput if one is invalid."""
        from taskflow.bench.scaling import Growth

        counts = ascending(self.counts) if self.counts else None
        return Growth(chosen("--shapes", self.shapes, SHAPES), counts, self.scale)


@dataclass(frozen=True)
class TimingOptions:
    """Options of commands that time passes on blocks."""

    channel: Channel = "auto"
    workers: Workers = None
    graphs: Graphs = True
    precision: Precision = None
    device: Device = "auto"
    seconds: Seconds = 1.0
    watts: Watts = None
    output: Output = None

    def conditions(self, overlap: str) -> TimingConditions:
        """Return the conditions. Raises BadInput if an overlap is unknown."""
        from taskflow.bench.timing import TimingConditions

        overlaps = chosen("--overlap", overlap, OVERLAPS)
        return TimingConditions(overlaps, self.channel, self.precision, self.seconds, self.graphs, watts=self.watts)


def triple(option: str, text: str) -> tuple[int, int, int]:
    """Return three numbers along x, y and z from "512x512x256". Raises BadInput if the text is invalid."""
    numbers = _numbers(text.lower().split("x"))
    if len(numbers) != 3:
        refuse(f"{option} {text}: give three numbers along x, y and z, such as 64x64x32")
    return numbers[0], numbers[1], numbers[2]


def blocks_of(text: str) -> tuple[int, int, int]:
    """Return blocks along x, y and z from "2x2x2", or slabs along z from "4". Raises BadInput if the text is neither.
    """
    if "x" in text.lower():
        return triple("--blocks", text)
    slabs = _numbers([text])
    if not slabs:
        refuse(f"--blocks {text}: give a number of slabs along z, such as 4, or blocks along x, y and z, such as 2x2x1")
    return 1, 1, slabs[0]


def cells_of(text: str) -> tuple[int, int, int]:
    """Return cells along x, y and z from "512x512x256", or from "128" for all three. Raises BadInput if the text is
    neither.
    """
    if "x" in text.lower():
        return triple("--cells", text)
    along = _numbers([text])
    if not along:
        refuse(f"--cells {text}: give a number of cells along x, y and z, such as 128, or three such as 64x64x32")
    return along[0], along[0], along[0]


def ascending(text: str, option: str = "--counts", of: str = "blocks") -> tuple[int, ...]:
    """Return ascending numbers from "1,2,4". Raises BadInput if the text is invalid."""
    numbers = _numbers(text.split(","))
    if not numbers:
        refuse(f"{option} {text}: give numbers of {of}, such as 1,2,4")
    return tuple(sorted(set(numbers)))


def chosen(option: str, text: str, known: Sequence[Name]) -> tuple[Name, ...]:
    """Return names from "none,full", or all known names from "all". Raises BadInput if one is unknown."""
    if text == "all":
        return tuple(known)
    words = [word.strip() for word in text.split(",")]
    if not set(words) <= set(known):
        refuse(f"{option} {text}: give one or more of {', '.join(known)}, separated by commas, or all")
    return tuple(name for name in known if name in words)


def _numbers(words: Sequence[str]) -> list[int]:
    """Return positive integers, or [] if a word is not one."""
    return [int(word) for word in words] if all(word.isdecimal() and int(word) > 0 for word in words) else []


def refuse_unused(context: typer.Context, what: str, *names: str) -> None:
    """Raise BadInput for parameters of a command, by name, that are given but unused. `what` names the reason."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in names and source is not None and source.name == "COMMANDLINE":
            refuse_options({parameter.opts[0]: True}, f"not used {what}")


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command for typer, with each dataclass parameter replaced by its fields, annotations and defaults.

    All parameters are keyword-only.
    """
    signature = inspect.signature(command, eval_str=True)
    own = signature.parameters
    kinds: dict[str, Any] = {name: one.annotation for name, one in own.items() if is_dataclass(one.annotation)}
    flat = [option for name, one in own.items() for option in (_options(kinds[name]) if name in kinds else [one])]

    @wraps(command)
    def call(**options: Any) -> None:
        groups = {
            name: kind(**{field.name: options.pop(field.name) for field in fields(kind)})
            for name, kind in kinds.items()
        }
        command(**options, **groups)

    call.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    call.__dict__["__signature__"] = signature.replace(parameters=flat)
    return call


def _options(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[one.name])
        for one in fields(kind)
    ]
