"""Artificial compressibility, marched implicitly (L. Luo et al. 2014; see `gmres` and `factor`).

    (V G / dtau + dR/dQ) dQ = -R,    Q = Q + share dQ,    G = diag(1/b, 1, 1, 1, 1)

Q = (p, u, v, w) and, with heat, T. R is the sum of the fluxes out of a cell less V times forces, in a physical time
step plus V P (rate Q - past). A step of pseudo-time is an outer iteration: a matrix, its factors, linear equations.
Passive scalars follow the flow, see `passive`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Literal

from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.models.artificial_compressibility import eddies
from taskflow.flow.models.artificial_compressibility.flow_on_charts import STATE
from taskflow.flow.models.artificial_compressibility.implicit import factor, march, outer, scalar
from taskflow.flow.models.artificial_compressibility.implicit.correction import Correction
from taskflow.flow.models.artificial_compressibility.implicit.derivative import derivative
from taskflow.flow.models.artificial_compressibility.implicit.gmres import FORTY, Gmres
from taskflow.flow.models.artificial_compressibility.implicit.krylov import PART, VALUES, WARM
from taskflow.flow.models.artificial_compressibility.implicit.lag import EACH, Lag
from taskflow.flow.models.artificial_compressibility.implicit.least_squares import Scalars, length
from taskflow.flow.models.artificial_compressibility.implicit.march import RAMP, Ramp
from taskflow.flow.models.artificial_compressibility.implicit.matrix import COUPLING, matrix
from taskflow.flow.models.artificial_compressibility.implicit.passive import WORK, ImplicitScalars
from taskflow.flow.models.artificial_compressibility.implicit.single import flow_in_single, in_single, single_fields
from taskflow.flow.models.artificial_compressibility.implicit.vectors import (
    AFTER,
    BEFORE,
    REST,
    RIGHT,
    UPDATE,
    Program,
    fields,
    measured,
    of_heat,
    rounded,
    same,
)
from taskflow.flow.models.artificial_compressibility.stage import residual
from taskflow.runtime.regions import Field, Location, powers_of_two
from taskflow.runtime.tasks import Derive, Launch, OwnedScalars, Repeat, Roles, derive, owned, sweeps

OWNER = "implicit"
BROKEN = 2  # updates in a row that are no numbers: factors are to be in double precision


@dataclass(frozen=True, eq=False)
class ImplicitCompressibility(ImplicitScalars):
    """The equations, marched with long steps of pseudo-time. `solver` solves the linear equations, with factors stored
    in `precision` for a `lag` of iterations. `ramp` sets the step sizes. `double`: the rest is in double precision.
    """

    _: KW_ONLY
    solver: Gmres | Correction = FORTY
    ramp: Ramp = RAMP
    lag: Lag = EACH
    precision: Literal["single", "double"] = "single"
    double: bool = False

    @property
    def fields(self) -> dict[str, Location]:
        """The present and the next state, a right-hand side, an update, a vector with ghost values, and V / dtau."""
        names = [*self.state, *AFTER, *RIGHT, *UPDATE, *BEFORE, "pseudo"]
        names += self.real.fields(self.state) if self.real else []
        if self.solver.deep and not self.mixed_precision:
            names += [*REST, *(["T_rest"] if self.heat else [])]
        names += eddies.fields(self.turbulence)
        if self.carried:
            names += [*(f"{name}_new" for name in self.carried), *WORK]
        return dict.fromkeys([*names, *self.constants, *(["b"] if self.method.local else [])], "c")

    def extra_fields(self, dtype: str) -> tuple[Field, ...]:
        """Return the matrix blocks for neighbours, pivots and their inverses, and the fields of the solver."""
        kept = "f4" if self.precision == "single" else dtype
        count = self.blocks.values
        own = Field("own", kept, values=count["own"], private=True)
        more = [own] if self.solver.approximates else [Field("vectors", kept, values=VALUES, private=True, rows=True)]
        if self.further:
            more.append(Field("later", kept, values=VALUES, private=True, rows=True))
        if self.heat and not self.solver.approximates:
            more.append(Field("warm", kept, values=WARM, private=True, rows=True))
        if self.apart:
            more.append(Field("carry", kept, values=scalar.CARRY, private=True))
        more += single_fields(self)
        tile = self.tile if self.ordering == "tiles" and powers_of_two(self.tile) else None
        swept = (Field(name, kept, values=count[name], private=True, tile=tile) for name in ("inverse", *COUPLING))
        return *swept, Field("pivot", kept, values=count["pivot"]), *more

    def coupled_field(self, f: Roles, vector: tuple[str, ...]) -> str | None:
        """Return the field of T of a vector, if the blocks couple it."""
        return of_heat(f, vector)[0] if self.coupled else None

    @property
    def mixed_precision(self) -> bool:
        """True if GMRES vectors are in single precision, and the rest in double."""
        return not self.solver.approximates and self.double and self.precision == "single"

    @property
    def marched(self) -> str:
        """The marching scheme, as text."""
        ordered = "blocks, on which bits depend" if self.ordering == "blocks" else self.ordering
        return f"implicit with CFL {self.ramp}, {self.solver.description}, {ordered}"

    @property
    def remedy(self) -> str:
        """Advice if the march diverges."""
        first = "" if self.method.flux == "central" else ', or begin with method.reconstruction = "first"'
        return f"give a smaller method.cfl.start (now {self.ramp.start:g}){first}"

    def progress(self, scalars: Scalars) -> dict[str, float]:
        """Return the log entries of an outer iteration: its CFL number, the iterations and remaining residual of its
        linear equations, the share of the update that was taken, and the number of updates refused so far.
        """
        mine = OwnedScalars(OWNER, scalars)
        if "taken" not in mine:
            return {"cfl": self.ramp.start}
        left = {"left": self.solver.left(mine)} if "left" in mine and mine["begun"] > 0 else {}
        return {"cfl": mine["cfl"], "linear": mine["taken"], **left, "share": mine["share"], "refused": mine["refused"]}

    @property
    def factors_precision(self) -> str:
        """"double" if factors are in double precision, else empty."""
        return "" if self.precision == "single" else self.precision

    @property
    def checkpoint_defaults(self) -> dict[str, float]:
        """Zeros: no update was broken."""
        return {f"{OWNER}.{name}": 0.0 for name in march.ADDED}

    def scalars(self, dt: float, ratio: float) -> dict[str, float]:
        """Return the scalars of a physical time step. Outer iterations compute their own."""
        return self.rates(dt, ratio)

    def start(self, f: Roles) -> Program:
        """Fill the ghost values of the initial state, and initialise the march."""
        yield from super().start(f)
        yield from self.begin_march(f)

    def begin_march(self, f: Roles) -> Program:
        """Reset the CFL number, for the whole march or within a physical time step."""
        begun = Derive(self.ramp.begin, march.BEGUN)
        yield from owned(OWNER, lambda _: iter([begun]))(f)

    def pseudo_step(self, f: Roles) -> Program:
        """An outer iteration."""
        yield from owned(OWNER, self.iteration)(f)
        yield from same(f, self, STATE, AFTER)  # to swap them would record all of it for each way round

    def iteration(self, f: Roles) -> Program:
        """Compute the next state, in the roles of `AFTER`."""
        yield from self.ghosts(f, "")
        if self.method.local:
            yield from self.compressibility(f)
        yield from self._left(f, "")
        yield derive(self._paced, ("cfl", "slowness", "first", "retreat", *self.lag.memory))
        yield from self.still_ghosts(f)
        yield self.paced((f.u, f.v, f.w), f)
        yield from self.lag.factors(self._factored, f)
        if "T" in self.apart:
            yield from self.scalar_factors((f.u, f.v, f.w), f, self.numbers)
        yield from self.solver.solve(f, self)
        velocity, update = fields(f, STATE)[1:], fields(f, UPDATE)[1:]
        yield outer.largest_change(velocity, update, over=self.cells, most=f.scalar("change"), speed=self.speed)
        yield derive(self._shared, ("share", "tries", "accepted", "broken"))
        yield Repeat(self._tried, 3, until=lambda scalars: scalars["accepted"] > 0, lag=False)
        for one in self.passive:
            yield from self.followed(f, one)

    def precondition(self, f: Roles) -> Iterator[Launch]:
        """z = M^-1 new."""
        if "T" in self.apart:
            yield from self.scalar_solves(f.T_new, f.T_z, f)
            yield from self._lift(f, f.T_z)
        new, z = ((fields(f, vector), self.coupled_field(f, vector), None) for vector in (AFTER, BEFORE))
        how = self.cells, self.ordering, self.tile, self.blocks
        yield from factor.solves(new, fields(f, COUPLING), f.inverse, z, *how)

    def product(self, f: Roles) -> Iterator[Launch]:
        """new = (V G / dtau + dR/dQ) z."""
        yield from self.changing_ghosts(f)
        place, heat = self.place(f)[1:-1], (f.T, f.T_z, f.T_new) if self.heat else None
        flow, z, new = fields(f, STATE), fields(f, BEFORE), fields(f, AFTER)
        yield derivative((*flow, f.sides), z, new, heat, f.pseudo, *place, self.surface_fields(f), **self._where(f))

    def single(self, f: Roles) -> Roles:
        """The roles with fields in single precision, if the model has `mixed_precision`."""
        return in_single(self, f)

    def prepared(self, f: Roles) -> Iterator[Launch]:
        """Round the flow to single precision, and z, as a sweep reads fields that it writes, which checkpoints would
        hold otherwise.
        """
        if self.mixed_precision:
            single = self.single(f)
            yield from flow_in_single(self, f)
            yield self.paced((single.u, single.v, single.w), single)
            yield from rounded(single, f, self, BEFORE, BEFORE)

    def left_of_heat(self, f: Roles) -> Iterator[Launch]:
        """Compute the residual of the equation of T after an update, and add its lift to momentum, unless the blocks
        couple T.
        """
        if "T" in self.apart:
            yield scalar.value_left(f.carry, f.T_r, f.T_x, f.T_new, over=self.cells)
            yield from self._lift(f, f.T_x)

    def _lift(self, f: Roles, T: str) -> Iterator[Launch]:
        if any(self.numbers.lift):
            new = f.u_new, f.v_new, f.w_new
            yield scalar.lift(new, T, self.metrics(f), over=self.cells, numbers=self.numbers)

    def still_ghosts(self, f: Roles) -> Iterator[Launch]:
        """With heat: fill T_z with 1, and its ghost cells by the homogeneous conditions."""
        if self.heat:
            yield impose(f.T_z, over=self.cells, value=Value(1.0))
            yield from self.changing_ghosts(f)

    def changing_ghosts(self, f: Roles) -> Iterator[Launch]:
        """Fill the ghost values of z: homogeneous conditions on all sides."""
        yield from self.ghosts_beyond(f, self.still, fields(f, BEFORE), f.T_z if self.heat else None)

    @property
    def weight(self) -> float:
        """Squared weight of the residual of continuity, which gives it the unit of a force."""
        return self.numbers.compressibility

    @property
    def warmth(self) -> float:
        """Squared weight of the residual of heat, which gives it the unit of a force; 0 without heat."""
        return (self.speed / self.heat.differ) ** 2 if self.heat else 0.0

    @property
    def further(self) -> bool:
        """True if the vectors of GMRES need two fields."""
        return self.solver.vectors > PART

    def _left(self, f: Roles, age: str) -> Program:
        """Compute -R of the state of an age, and the square of its length; z holds R / V."""
        z, metrics = fields(f, BEFORE), self.metrics(f)
        heat = (f[f"T{age}"], f.T_z) if self.heat else None
        where: dict[str, Any] = {"over": self.cells, "rate": self.change(f), "numbers": self.numbers}
        place = self.past(f, "T"), *self.place(f)[1:], self.surface_fields(f)
        yield residual((*self.of(f, STATE, age), f.sides), z, heat, *place, **where)
        yield outer.right_side(z, fields(f, RIGHT), metrics, over=self.cells, numbers=self.numbers)
        if self.heat:
            yield scalar.value_right(f.T_z, f.T_r, metrics, over=self.cells, numbers=self.numbers)
        yield from measured(f, self, RIGHT)

    def matrix(self, f: Roles) -> Iterator[Launch]:
        """Compute the matrix blocks, including the pseudo-time term."""
        place = self.place(f)[1:-1]
        own = f.own if self.solver.approximates else None
        flow, made = (*fields(f, STATE), f.sides, f.pseudo), (*fields(f, COUPLING), f.pivot)
        heat = (f.T, f.T_z) if self.coupled else None
        yield matrix(flow, made, own, heat, None, *place, self.surface_fields(f), **self._where(f))

    def _factored(self, f: Roles) -> Program:
        yield from self.matrix(f)
        yield from self.factors(f)

    def factors(self, f: Roles) -> Iterator[Launch | Derive]:
        """Compute the factors of the matrix, and check that none is singular."""
        _, *place, _ = self.place(f)
        heat = f.T if self.coupled else None
        of = (f.u, f.v, f.w), heat, None, fields(f, COUPLING), f.pivot, *place, f.aperture if self.bodies else None
        for sweep in sweeps(self.ordering, "up", self.tile):
            yield factor.invert(*of, over=self.cells, sweep=sweep, numbers=self.numbers)
        yield factor.keep_inverse(f.pivot, f.inverse, over=self.cells, cell=f.scalar("cell"), blocks=self.blocks)
        yield derive(partial(factor.refuse_singular, self.cells, self.precision == "single"), ("sound",))

    def _tried(self, f: Roles) -> Program:
        """Apply a share of the update, and decide if it is accepted."""
        flow, update, new = fields(f, STATE), fields(f, UPDATE), fields(f, AFTER)
        yield outer.moved(flow, update, new, over=self.cells, share=f.scalar("share"))
        if self.heat:
            yield scalar.value_moved(f.T, f.T_x, f.T_new, over=self.cells, share=f.scalar("share"))
        yield from self.flow_ghosts(f, "_new")
        yield from self._left(f, "_new")
        yield derive(_judged, ("share", "tries", "accepted", "retreat", "refused"))

    def _shared(self, scalars: Scalars) -> dict[str, float]:
        """Return the share of the update. Raises Avoidable after two non-finite updates with single factors."""
        shared = march.share(scalars)
        if shared["broken"] == BROKEN and self.precision == "single":
            raise factor.imprecise("the linear equations have been solved twice to numbers that are not finite")
        return shared

    def _paced(self, scalars: Scalars) -> dict[str, float]:
        solved, left = (self.solver.solved(scalars), self.solver.left(scalars)) if scalars["cfl"] > 0 else (False, 1.0)
        size = length(scalars) * self.unit**2  # checkpoints have it in the units of the case
        return self.ramp.advance(scalars, size, solved, left) | self.lag.advance(scalars, length(scalars))


def _judged(scalars: Scalars) -> dict[str, float]:
    return march.judged(scalars, length(scalars))
