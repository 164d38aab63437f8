"""Formulas in x, y, z and t: text that is read as arithmetic and never executed as Python."""

import ast
import difflib
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import pairwise
from typing import Any

import numpy as np

from taskflow.cases.formulas.arithmetic import ARRAYS, FUNCTIONS, Arithmetic
from taskflow.cases.formulas.intervals import INTERVALS, Interval
from taskflow.cases.formulas.values import number
from taskflow.common.errors import BadInput
from taskflow.common.text import parsed

Array = np.ndarray
Formula = Callable[[Mapping[str, Any]], Any]

LONGEST = 2000  # characters
DEEPEST = 200  # nested operations, so that neither reading nor computing can exhaust the stack

COORDINATES = ("x", "y", "z")
TIME = "t"
CONSTANTS = {"pi": math.pi, "e": math.e}
_HINTS: dict[type[ast.AST], str] = {
    ast.BitXor: "a power is written **",
    ast.Attribute: "names have no prefix: write sin(x), not np.sin(x)",
    ast.BoolOp: "multiply conditions: (x > 0) * (y > 0)",
    ast.BitAnd: "multiply conditions: (x > 0) * (y > 0)",
    ast.IfExp: "write where(condition, a, b)",
}


@dataclass(frozen=True)
class Expression:
    """A number, or a formula in x, y and z, that gives a field its values; of the time t, too, if it is `timed`.

    `source` is what was written. Anything that is not such a formula is `BadInput`, which names the invalid part.
    Values are computed in float64 only, so no formula takes longer or needs more memory than its length explains.
    """

    source: float | str
    timed: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.source, str):
            object.__setattr__(self, "source", number(self.source))
        compiled(self.source, self._variables)

    @property
    def _variables(self) -> tuple[str, ...]:
        return (*COORDINATES, TIME) if self.timed else COORDINATES

    def range_over(self, low: tuple[Any, Any, Any], high: tuple[Any, Any, Any]) -> tuple[Array, Array]:
        """Return bounds of the values in boxes between corners, nan where nothing is known."""
        names = {name: Interval(*ends) for name, *ends in zip(COORDINATES, low, high, strict=True)}
        with np.errstate(all="ignore"):
            values = compiled(self.source, self._variables, INTERVALS)({**names, TIME: Interval(0.0, 0.0)})
        return values.low, values.high

    @property
    def varies(self) -> bool:
        """Return whether its values change in time."""
        return TIME in self.names

    @property
    def uniform(self) -> bool:
        """Return whether its values are the same everywhere."""
        return self.names.isdisjoint(COORDINATES)

    @property
    def names(self) -> frozenset[str]:
        """The names in it, of coordinates, constants and functions."""
        return names_in(self.source) if isinstance(self.source, str) else frozenset()

    def __call__(self, x: Any, y: Any, z: Any, t: Any = 0.0) -> Array:
        """Return values in float64, in the shape to which x, y, z broadcast. Raises BadInput if one is not finite."""
        names = {name: np.asarray(at, dtype=np.float64) for name, at in zip(COORDINATES, (x, y, z), strict=True)}
        with np.errstate(all="ignore"):  # where(x > 0, log(x), 0) computes both branches
            values = compiled(self.source, self._variables)({**names, TIME: np.float64(t)})
        return field_values(values, (x, y, z), f"the expression {self.source!r}")


@dataclass(frozen=True)
class NamedFunction:
    """A Python function given in code; a file can only name it."""

    call: Callable[..., Any]

    @property
    def source(self) -> str:
        """The function's qualified name."""
        kind = type(self.call)
        module = getattr(self.call, "__module__", None) or kind.__module__
        names = (getattr(self.call, key, None) for key in ("__qualname__", "__name__"))  # NumPy's have the latter
        return f"{module}.{next(filter(None, names), kind.__qualname__)}"

    def __str__(self) -> str:
        return self.source

    def called(self, *of: Any, takes: str, when: str = "") -> Any:
        """Return the value of the function. Raises BadInput if it fails, with the arguments that it `takes`."""
        try:
            return self.call(*of)
        except BadInput:
            raise
        except Exception as error:  # whatever somebody else's code may raise
            failed = f"the function {self.source} failed{when} with {type(error).__name__}: {error}"
            raise BadInput(f"{failed}; it takes {takes}") from error


def field_values(values: Any, at: tuple[Any, Any, Any], who: str) -> Array:
    """Return `values` as a float64 array over the points `at`. Raises BadInput if they do not fit or are not finite."""
    result = np.empty(np.broadcast_shapes(*(np.shape(c) for c in at)))
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            raise TypeError
        result[...] = array
    except (TypeError, ValueError):
        kind = getattr(values, "shape", None) or type(values).__name__
        strange = f" of {values.dtype}" if getattr(values, "shape", None) == result.shape else ""
        raise BadInput(f"{who} gives {kind}{strange} where real numbers of shape {result.shape} are needed") from None
    if not np.isfinite(result).all():
        first = tuple(np.argwhere(~np.isfinite(result))[0])
        where = ", ".join(
            f"{name} = {np.broadcast_to(c, result.shape)[first]:g}" for name, c in zip(COORDINATES, at, strict=True)
        )
        raise BadInput(f"{who} is not finite at {where}; use where(condition, a, b) to avoid such points")
    return result


@lru_cache(maxsize=256)
def names_in(source: str) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(syntax(source)) if isinstance(node, ast.Name))


@lru_cache(maxsize=256)
def compiled(source: float | str, variables: tuple[str, ...], arithmetic: Arithmetic = ARRAYS) -> Formula:
    """Return the function of variables, by name, that `source` describes. Raises BadInput if it is not a formula."""
    if not isinstance(source, str):
        return _constant(arithmetic.number(source))
    return _Reader(_text(source), variables, arithmetic).read(syntax(source), 0)


def _constant(number: Any) -> Formula:
    return lambda names: number


def _text(source: str) -> str:
    return " ".join(source.split())


def syntax(source: str) -> ast.expr:
    """Return the syntax tree of any text. Raises BadInput if it has none."""
    if len(source) > LONGEST:
        raise BadInput(f"the expression {source[:40]!r}... has {len(source)} characters; {LONGEST} are allowed")
    try:
        tree = parsed(_text(source), "eval")
        assert isinstance(tree, ast.Expression)
        return tree.body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else "it is nested too deeply or holds odd characters"
        raise BadInput(f"{source!r} is not an expression: {reason}") from None


@dataclass(frozen=True)
class _Reader:
    """Turns the syntax tree of `text` into a function, node by node; a node with no place in a formula is refused."""

    text: str
    variables: tuple[str, ...]
    arithmetic: Arithmetic

    @property
    def known(self) -> tuple[str, ...]:
        """All names that have a meaning."""
        return (*self.variables, *CONSTANTS, *FUNCTIONS)

    def read(self, node: ast.expr, depth: int) -> Formula:
        if depth > DEEPEST:
            raise BadInput(f"the expression {self.text[:40]!r}... is nested too deeply; split it into fewer terms")
        operators = self.arithmetic.operators
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return _constant(self.arithmetic.number(self.finite(value, node)))
            case ast.Name(id=name):
                return self.name(name, node)
            case ast.UnaryOp(op=op, operand=operand) if type(op) in operators:
                return self.apply(operators[type(op)], [operand], depth)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in operators:
                return self.apply(operators[type(op)], [left, right], depth)
            case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in operators for op in ops):
                return self.compare([operators[type(op)] for op in ops], [left, *others], depth)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
                count = FUNCTIONS[name][1]
                if len(arguments) != count:
                    raise self.refused(node, f"{name} takes {count} argument{'s' * (count > 1)}")
                return self.apply(self.arithmetic.functions[name], arguments, depth)
            case ast.Call(func=ast.Name(id=name), keywords=[]):
                raise self.refused(node, f"there is no function {name}{_suggestion(name, FUNCTIONS)}")
            case ast.BinOp(op=op) | ast.UnaryOp(op=op):
                raise self.refused(node, _HINTS.get(type(op), "allowed are + - * / ** and comparisons"))
            case ast.Call(func=ast.Attribute()):
                raise self.refused(node, _HINTS[ast.Attribute])
        known = f"known are numbers, + - * / ** < > <= >=, {', '.join(self.known)}"
        raise self.refused(node, _HINTS.get(type(node), known))

    def apply(self, function: Callable[..., Any], arguments: list[ast.expr], depth: int) -> Formula:
        parts = [self.read(argument, depth + 1) for argument in arguments]
        return lambda names: function(*(part(names) for part in parts))

    def compare(self, operators: list[Callable[..., Any]], sides: list[ast.expr], depth: int) -> Formula:
        """0 < x < 1 holds where each of its comparisons does; each of its sides is computed once."""
        parts = [self.read(side, depth + 1) for side in sides]

        def holds(names: Mapping[str, Any]) -> Any:
            values = [part(names) for part in parts]
            pairs = zip(operators, pairwise(values), strict=True)
            return reduce(self.arithmetic.operators[ast.Mult], (compared(*pair) for compared, pair in pairs))

        return holds

    def name(self, name: str, node: ast.expr) -> Formula:
        if name in self.variables:
            return lambda names: names[name]
        if name in CONSTANTS:
            return _constant(self.arithmetic.number(CONSTANTS[name]))
        if name in FUNCTIONS:
            raise self.refused(node, f"{name} is a function: write {name}(...)")
        raise self.refused(node, f"there is no {name}{_suggestion(name, self.known)}")

    def finite(self, value: float, node: ast.expr) -> float:
        with suppress(OverflowError):
            if (number := float(value)) < math.inf:
                return number
        raise self.refused(node, "the number is too large")

    def refused(self, node: ast.expr, reason: str) -> BadInput:
        part = ast.get_source_segment(self.text, node) or type(node).__name__
        inside = "" if part == self.text else f" in {self.text!r}"
        return BadInput(f"{part!r}{inside} is not allowed: {reason}")


def _suggestion(name: str, known: Mapping[str, object] | tuple[str, ...]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else f"; known are {', '.join(known)}"
