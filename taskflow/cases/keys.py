"""The tables of a case as types: editors complete keys, and type checkers refuse unknown ones.

Written by `python -m docs.case_keys` from the models that read a case. Tables of other packages are given as
`Case(**tables)` with a `dict[str, Any]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Required, TypedDict

import numpy as np

Formula = float | str | Callable[..., Any] | np.ndarray  # a number, an expression or file of a table, or values of it
Interval = float | Mapping[str, float]


class BodyShapeKeys(TypedDict, total=False):
    type: Required[Literal["box", "sphere", "cylinder", "implicit", "surface", "heights"]]
    low: Sequence[float] | np.ndarray | None
    high: Sequence[float] | np.ndarray | None
    centre: Sequence[float] | np.ndarray | None
    radius: float | None
    axis: Literal["x", "y", "z"] | None
    length: float | None
    inside: Formula | None
    file: str | None
    scale: float | None
    shift: Sequence[float] | np.ndarray | None
    variable: str | None
    extent: Sequence[float] | np.ndarray | None
    interpolation: Literal["linear", "nearest"] | None


class ExtrudedGridKeys(TypedDict, total=False):
    sides: Mapping[str, str]
    cells: Required[Sequence[int]]
    periodic: bool


class BoundaryKeys(TypedDict, total=False):
    type: Required[Literal["wall", "slip", "symmetry", "inflow", "outflow", "vent"] | str]
    velocity: Sequence[Formula] | None
    temperature: Formula | None
    heat_flux: Formula | None
    heat_transfer: float | None
    outside_temperature: Formula | None
    pressure: Formula | Literal["advected"] | None
    log_law: LogLawKeys | None
    table: str | None
    phase: Formula | None
    contact_angle: float | None
    loss: float | None
    roughness: float | None


class ChartSideKeys(TypedDict, total=False):
    type: Required[Literal["wall", "slip", "symmetry", "inflow", "outflow", "far-field"] | str]
    velocity: Sequence[Formula] | None
    temperature: float | None
    heat_flux: float | None
    heat_transfer: float | None
    outside_temperature: float | None
    pressure: float | None
    profile: Literal["parabolic"] | None
    moment_about: Sequence[float] | np.ndarray | None


class AnglesKeys(TypedDict, total=False):
    x: Formula
    y: Formula
    z: Formula


class BodyMotionKeys(TypedDict, total=False):
    displacement: Sequence[Formula] | None
    angle: BodyTurnKeys | None
    centre: Sequence[float] | np.ndarray | None


class BodyTreatmentKeys(TypedDict, total=False):
    treatment: Literal["flagged", "immersed"]


class BodyTurnKeys(TypedDict, total=False):
    x: Formula | None
    y: Formula | None
    z: Formula | None


class BoundariesKeys(TypedDict, total=False):
    x: Literal["periodic"] | None
    x_min: Literal["wall", "slip", "symmetry", "inflow", "outflow", "vent"] | str | BoundaryKeys | None
    x_max: Literal["wall", "slip", "symmetry", "inflow", "outflow", "vent"] | str | BoundaryKeys | None
    y: Literal["periodic"] | None
    y_min: Literal["wall", "slip", "symmetry", "inflow", "outflow", "vent"] | str | BoundaryKeys | None
    y_max: Literal["wall", "slip", "symmetry", "inflow", "outflow", "vent"] | str | BoundaryKeys | None
    z: Literal["periodic"] | None
    z_min: Literal["wall", "slip", "symmetry", "inflow", "outflow", "vent"] | str | BoundaryKeys | None
    z_max: Literal["wall", "slip", "symmetry", "inflow", "outflow", "vent"] | str | BoundaryKeys | None


class BulkVelocityKeys(TypedDict, total=False):
    x: float | None
    y: float | None
    z: float | None


class CheckpointKeys(TypedDict, total=False):
    every: Interval | None
    keep: int


class DiskKeys(TypedDict, total=False):
    centre: Required[Sequence[float] | np.ndarray]
    radius: Required[float]


class ExpressionTableKeys(TypedDict, total=False):
    name: Required[str]
    expression: Required[str]
    long_name: str | None
    units: str


class FluidKeys(TypedDict, total=False):
    viscosity: Required[float]
    scheme: Literal["central", "quick"]


class ForcingKeys(TypedDict, total=False):
    gravity: Sequence[float] | np.ndarray
    force: Sequence[Formula]
    rotation: Sequence[Formula]
    geostrophic_wind: Sequence[float] | np.ndarray
    bulk_velocity: BulkVelocityKeys | None


class ForcingTableKeys(TypedDict, total=False):
    on: Required[str]
    expression: Required[str]
    where: str | None
    box: Sequence[Sequence[float] | np.ndarray] | None


class GridMotionKeys(TypedDict, total=False):
    angle: AnglesKeys
    centre: Sequence[float] | np.ndarray
    displacement: Sequence[Formula]


class GridKeys(TypedDict, total=False):
    cells: Required[Sequence[int]]
    lengths: Required[Sequence[float] | np.ndarray]
    origin: Sequence[float] | np.ndarray
    stretching: StretchingKeys | None


class HeatKeys(TypedDict, total=False):
    diffusivity: Required[float]
    expansion: float
    reference: float
    source: float
    sources: Sequence[SourceKeys]
    scheme: Literal["central", "koren"]
    background_gradient: Sequence[float] | np.ndarray


class InitialKeys(TypedDict, total=False):
    velocity: Sequence[Formula]
    temperature: Formula | None
    noise: NoiseKeys | None
    source: str | Any | None
    time: float | None


class IsosurfaceKeys(TypedDict, total=False):
    name: Required[str]
    field: Required[str]
    value: Required[float]
    every: Interval


class LineKeys(TypedDict, total=False):
    low: Required[Sequence[float] | np.ndarray]
    high: Required[Sequence[float] | np.ndarray]
    points: Required[int]


class LogLawKeys(TypedDict, total=False):
    roughness: Required[float]
    friction_velocity: float | None
    speed: float | None
    height: float | None
    up: Literal["x", "y", "z"]
    ground: float | None
    direction: Sequence[float] | np.ndarray | None


class MachineKeys(TypedDict, total=False):
    device: Literal["auto", "cpu", "gpu"]
    blocks: Sequence[int] | int | Literal["auto"]
    cuts: Mapping[str, Sequence[int]]
    workers: int | Literal["auto"]
    threads: int | Literal["auto"]
    precision: Literal["single", "double"]
    overlap: Literal["auto", "none", "comm", "full"]
    channel: Literal["auto", "local", "peer", "ucx", "actor"]
    restarts: int
    silence: float
    patience: float
    debug: bool


class MethodKeys(TypedDict, total=False):
    type: str


class MonitorKeys(TypedDict, total=False):
    every: Interval
    fields: Sequence[str] | None


class NoiseKeys(TypedDict, total=False):
    rms: Required[float]
    wavenumber: Required[float]
    spectrum: Literal["passot-pouquet", "von-karman"]
    seed: int


class ObstacleKeys(BodyShapeKeys, total=False):
    name: str | None
    temperature: float | None
    moment_about: Sequence[float] | np.ndarray | None
    motion: BodyMotionKeys | None


class OpeningKeys(BoundaryKeys, total=False):
    name: Required[str]
    side: Required[Literal["x_min", "x_max", "y_min", "y_max", "z_min", "z_max"]]
    box: Sequence[Sequence[float] | np.ndarray] | None
    disk: DiskKeys | None
    where: Formula | None
    scalars: Mapping[str, Formula] | None
    obstacle: str | None


class OutputKeys(TypedDict, total=False):
    fields: Sequence[str] | None
    every: Interval | None
    precision: Literal["single", "double"]
    compression: Literal["lz4", "zstd", "none"]
    relative_error: float | None


class ParticlesKeys(TypedDict, total=False):
    name: Required[str]
    points: Sequence[Sequence[float] | np.ndarray] | None
    box: Sequence[Sequence[float] | np.ndarray] | None
    count: int | None
    lattice: Sequence[int] | None
    seed: int
    start: float
    interval: float | None
    releases: int
    response_time: float | None
    density: float | None
    every: Required[Interval]
    fields: Sequence[str] | None


class PassiveScalarKeys(TypedDict, total=False):
    name: Required[str]
    diffusivity: Required[float]
    source: float
    scheme: Literal["central", "koren"]
    initial: Formula
    boundaries: ScalarBoundariesKeys | Mapping[str, ScalarFaceKeys]
    sources: Sequence[SourceKeys]


class PictureKeys(TypedDict, total=False):
    name: Required[str]
    x: float | None
    y: float | None
    z: float | None
    isosurface: str | None
    value: float | None
    field: str
    every: Interval
    range: Sequence[float] | np.ndarray | None
    log: bool
    cmap: str | None
    size: Sequence[int] | None
    view: Sequence[float] | np.ndarray


class PlaneKeys(TypedDict, total=False):
    name: Required[str]
    x: float | None
    y: float | None
    z: float | None
    side: str | None
    chart: int | None
    i: int | None
    j: int | None
    k: int | None
    every: Required[Interval]
    fields: Sequence[str] | None


class PressureKeys(TypedDict, total=False):
    solver: Literal["auto", "jacobi", "multigrid", "fft", "cg"]
    iterations: int | None
    tolerance: float | None
    max_iterations: int | None
    outer: Literal["cg", "none"] | None
    cycle: Literal["v", "w", "f"] | None
    smoother: Literal["red-black", "jacobi"] | None
    precision: Literal["auto", "single", "double"] | None
    amalgamate: int | None
    levels: int | None
    forcing: int | None


class ProbeKeys(TypedDict, total=False):
    name: Required[str]
    points: Sequence[Sequence[float] | np.ndarray] | None
    line: LineKeys | None
    every: Interval
    fields: Sequence[str] | None


class ScalarBoundariesKeys(TypedDict, total=False):
    x_min: ScalarFaceKeys | None
    x_max: ScalarFaceKeys | None
    y_min: ScalarFaceKeys | None
    y_max: ScalarFaceKeys | None
    z_min: ScalarFaceKeys | None
    z_max: ScalarFaceKeys | None


class ScalarFaceKeys(TypedDict, total=False):
    value: Formula | None
    flux: Formula | None


class SourceKeys(TypedDict, total=False):
    box: Sequence[Sequence[float] | np.ndarray] | None
    point: Sequence[float] | np.ndarray | None
    rate: Required[Formula]


class SpacingKeys(TypedDict, total=False):
    tanh: float | None
    geometric: float | None
    faces: Sequence[float] | np.ndarray | str | None
    toward: Literal["min", "max", "both"] | None


class SpectrumKeys(TypedDict, total=False):
    name: Required[str]
    along: Required[Literal["x", "y", "z", "all"]]
    start: float
    every: Interval
    write: Interval | None
    fields: Sequence[str] | None
    pairs: Sequence[Sequence[str]]


class StatisticsKeys(TypedDict, total=False):
    start: float
    every: Interval
    fields: Sequence[str] | None
    order: Literal[1, 2]
    budget: bool
    write: Interval | None


class SteadyKeys(TypedDict, total=False):
    rate: Required[float]
    over: float | None
    every: Interval


class StretchingKeys(TypedDict, total=False):
    x: SpacingKeys | None
    y: SpacingKeys | None
    z: SpacingKeys | None


class SurfaceKeys(TypedDict, total=False):
    name: Required[str]
    x: float | None
    y: float | None
    z: float | None
    box: Sequence[Sequence[float] | np.ndarray] | None
    every: Interval


class TimeKeys(TypedDict, total=False):
    end: float | None
    steps: int | None
    steady: float | SteadyKeys | None
    cfl: float | None
    step: float | None
    diffusion: float
    capillary: float | None
    scheme: Literal["ab2", "rk3"]
    implicit: Sequence[str] | None


class TurbulenceKeys(TypedDict, total=False):
    model: Required[Literal["smagorinsky", "wale", "vreman"]]
    constant: float | None
    constants: Mapping[str, float] | None
    prandtl: float
    damping: Literal["van-driest", "none"] | None


class UnitsKeys(TypedDict, total=False):
    length: str | None
    time: str | None
    temperature: str | None


class PhaseShapeKeys(BodyShapeKeys, total=False):
    phase: Required[Literal[1, 2]]


class CflRampKeys(TypedDict, total=False):
    start: float
    most: float
    power: float


class DampingKeys(TypedDict, total=False):
    type: Literal["jst", "pressure"]
    fourth: float


class InnerKeys(TypedDict, total=False):
    tolerance: float
    iterations: int | None


class LinearKeys(TypedDict, total=False):
    solver: Literal["gmres", "correction"]
    vectors: int
    products: int
    tolerance: float | None
    sweeps: int
    ordering: Literal["tiles", "hyperplanes", "blocks", "jacobi"]
    coupled: Sequence[str] | None
    lag: int | None
    precision: Literal["single", "double"]


class LocalCompressibilityKeys(TypedDict, total=False):
    local: bool
    factor: float


class CompressibilityMethodKeys(TypedDict, total=False):
    type: str
    compressibility: float | Literal["auto"] | LocalCompressibilityKeys
    reference_speed: float | Literal["auto"]
    flux: Literal["upwind", "central"]
    reconstruction: Literal["third", "second", "first"] | None
    limiter: Literal["none", "van-albada"]
    damping: DampingKeys | None
    march: Literal["euler", "rk3", "rk4", "rk5", "implicit"]
    cfl: float | CflRampKeys | None
    linear: LinearKeys | None
    steps: Literal["local", "global"]
    inner: InnerKeys | None
    stall: Literal["fail", "accept"]
    pressure_at: Sequence[float] | np.ndarray | None


class BoxGridKeys(TypedDict, total=False):
    shape: Literal["box"]
    sides: Mapping[str, str]
    cells: Required[Sequence[int]]
    lengths: Required[Sequence[float] | np.ndarray]
    origin: Sequence[float] | np.ndarray
    stretching: Sequence[float] | np.ndarray
    periodic: Sequence[Literal["x", "y", "z"]] | Literal["x", "y", "z"]
    charts: Sequence[int]
    distortion: float
    turned: bool
    seed: int


class SkewedBoxGridKeys(TypedDict, total=False):
    shape: Required[Literal["skewed-box"]]
    sides: Mapping[str, str]
    cells: Required[Sequence[int]]
    lengths: Required[Sequence[float] | np.ndarray]
    origin: Sequence[float] | np.ndarray
    stretching: Sequence[float] | np.ndarray
    periodic: Sequence[Literal["x", "y", "z"]] | Literal["x", "y", "z"]
    angle: float


class AnnulusGridKeys(ExtrudedGridKeys, total=False):
    shape: Required[Literal["annulus"]]
    radii: Required[Sequence[float] | np.ndarray]
    first: float
    charts: int
    height: float


class SectorGridKeys(ExtrudedGridKeys, total=False):
    shape: Required[Literal["sector"]]
    radii: Required[Sequence[float] | np.ndarray]
    angle: Required[float]
    first: float
    stretching: float
    height: float


class OGridKeys(ExtrudedGridKeys, total=False):
    shape: Required[Literal["o-grid"]]
    radius: float
    far: Required[float]
    first: float
    growth: float
    height: float


class CGridKeys(ExtrudedGridKeys, total=False):
    shape: Required[Literal["c-grid"]]
    section: str
    chord: float
    far: Required[float]
    wake: Required[float]
    first: float
    span: float


class PipeGridKeys(ExtrudedGridKeys, total=False):
    shape: Required[Literal["pipe"]]
    radius: float
    length: Required[float]
    core: float
    first: float


class DuctBendGridKeys(TypedDict, total=False):
    shape: Required[Literal["duct-bend"]]
    sides: Mapping[str, str]
    cells: Required[Sequence[int]]
    section: Literal["square", "round"]
    side: Required[float]
    mean_radius: Required[float]
    angle: float
    upstream: Required[float]
    downstream: Required[float]
    first: float


class StepGridKeys(ExtrudedGridKeys, total=False):
    shape: Required[Literal["step"]]
    height: float
    channel: float
    downstream: Required[float]
    upstream: float
    first: float
    clustering: float
    span: float


class WavyChannelGridKeys(ExtrudedGridKeys, total=False):
    shape: Required[Literal["wavy-channel"]]
    wavelength: Required[float]
    amplitude: Required[float]
    height: Required[float]
    clustering: float
    span: float


class BifurcationGridKeys(ExtrudedGridKeys, total=False):
    shape: Required[Literal["bifurcation"]]
    widths: Required[Sequence[float] | np.ndarray]
    angle: Required[float]
    upstream: Required[float]
    downstream: Required[float]
    clustering: float
    span: float


class FileGridKeys(TypedDict, total=False):
    file: Required[str | None]
    map: str | None
    scale: float
    sides: Mapping[str, str]


class PhaseFluidKeys(TypedDict, total=False):
    scheme: Literal["koren", "weno5", "quick", "central"]


class ChartOpeningKeys(ChartSideKeys, total=False):
    name: Required[str]
    side: Required[str]
    box: Sequence[Sequence[float] | np.ndarray] | None
    disk: DiskKeys | None
    where: Formula | None
    scalars: Mapping[str, Formula] | None


class MarchTimeKeys(TypedDict, total=False):
    steady: float | None
    end: float | None
    steps: int | None
    step: float | None
    cfl: float | None


class TwoPhaseKeys(TypedDict, total=False):
    density: Required[Sequence[float] | np.ndarray]
    viscosity: Required[Sequence[float] | np.ndarray]
    surface_tension: float
    method: Literal["levelset", "vof"]
    initial: Formula | None
    shapes: Sequence[PhaseShapeKeys] | None
    background: Literal[1, 2] | None
    viscosity_mean: Literal["harmonic", "arithmetic"]
    reinitialise: int
    conserve: bool
    smallest: int | None
    thickness: float


class PhaseKeys(TypedDict, total=False):
    name: Required[str]
    phase: Required[Literal[1, 2]]
    box: Sequence[Sequence[float] | np.ndarray] | None
    every: Interval
    droplets: bool


class CaseKeys(TypedDict, total=False):
    title: str
    units: UnitsKeys
    method: MethodKeys | CompressibilityMethodKeys | None
    grid: (
        Required[GridKeys
        | BoxGridKeys
        | SkewedBoxGridKeys
        | AnnulusGridKeys
        | SectorGridKeys
        | OGridKeys
        | CGridKeys
        | PipeGridKeys
        | DuctBendGridKeys
        | StepGridKeys
        | WavyChannelGridKeys
        | BifurcationGridKeys
        | FileGridKeys]
    )
    fluid: FluidKeys | PhaseFluidKeys
    boundaries: (
        Required[BoundariesKeys
        | Mapping[str, Literal["wall", "slip", "symmetry", "inflow", "outflow", "far-field"]
        | str
        | ChartSideKeys]]
    )
    openings: Sequence[OpeningKeys | ChartOpeningKeys]
    heat: HeatKeys | None
    scalars: Sequence[PassiveScalarKeys]
    turbulence: TurbulenceKeys | None
    body: ForcingKeys
    forcing: Sequence[ForcingTableKeys]
    obstacles: Sequence[ObstacleKeys]
    bodies: BodyTreatmentKeys
    initial: InitialKeys
    time: Required[TimeKeys | MarchTimeKeys]
    motion: GridMotionKeys | None
    pressure: PressureKeys
    expressions: Sequence[ExpressionTableKeys]
    output: OutputKeys
    statistics: StatisticsKeys | None
    spectra: Sequence[SpectrumKeys]
    probes: Sequence[ProbeKeys]
    planes: Sequence[PlaneKeys]
    surfaces: Sequence[SurfaceKeys]
    isosurfaces: Sequence[IsosurfaceKeys]
    particles: Sequence[ParticlesKeys]
    pictures: Sequence[PictureKeys]
    monitor: MonitorKeys
    checkpoint: CheckpointKeys
    machine: MachineKeys
    two_phase: TwoPhaseKeys
    phases: Sequence[PhaseKeys]
