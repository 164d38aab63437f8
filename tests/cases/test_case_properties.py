"""Random cases: a mutated one is a case or bad input, never another error; a sound one survives writing and reading."""

import tomllib
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from taskflow.cases import FACES, Case
from taskflow.common.errors import BadInput
from taskflow.runs.state.setup import RunSetup
from tests.cases.sound import cavity, heated

HALF = settings.default.max_examples // 2  # each example takes long


def flow(x, y, z):
    return x


words = st.sampled_from(
    ["wall", "slip", "periodic", "auto", "x", "sin(x)", "T", "velocity", "type", "steps", "time", "end"]
)
strange = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 5), st.sampled_from([10**400, 2**31]), st.floats(), words,
    st.text(max_size=5),
    st.binary(max_size=3), st.dates(), st.just(object()), st.just(flow), st.sets(st.integers(), max_size=2),
    st.just(np.arange(3)), st.just(np.float32(2)), st.just(np.bool_(True)), st.just(1j),
)
anything = st.recursive(
    strange,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words | st.integers(), inner, max_size=3),
    max_leaves=5,
)


def places(tables, path=()):
    """Every place in nested tables and lists."""
    yield path
    items = tables.items() if isinstance(tables, dict) else enumerate(tables) if isinstance(tables, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


@st.composite
def mutated(draw, cases):
    """A sound case with up to three things replaced, removed, moved or added."""
    tables = deepcopy(draw(st.sampled_from(cases)))
    for _ in range(draw(st.integers(1, 3))):
        *outer, key = draw(st.sampled_from([path for path in places(tables) if path]))
        inner = tables
        for step in outer:
            inner = inner[step]
        action = draw(st.sampled_from(["replace", "remove", "add", "rename"]))
        if action == "replace":
            inner[key] = draw(anything)
        elif action == "remove":
            del inner[key]
        elif isinstance(inner, dict):
            name = draw(words | st.sampled_from([path[-1] for path in Case.paths()]) | st.text(max_size=6))
            inner[name] = draw(anything) if action == "add" else inner.pop(key)
        if not tables:
            break
    return tables


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=HALF)
@given(data=st.data())
def test_a_mutated_case_is_a_case_or_bad_input(data):
    tables = data.draw(mutated([cavity(), heated()]))
    try:
        case = Case(**tables)
    except BadInput as error:
        assert all(": " in line for line in str(error).splitlines())  # noqa: PT017  (either outcome is right)
        return
    assert RunSetup(case, (1, 1, 1)).clock
    assert all(case.boundary(face).type for face in FACES)
    text = case.to_toml()
    if flow not in (*case.initial.velocity, case.initial.temperature) and "flow" not in text:
        assert Case(**tomllib.loads(text)) == case


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=HALF)
@given(data=st.data())
def test_a_mutated_file_is_a_case_or_bad_input(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("fuzz") / "case.toml"
    text = Case(**data.draw(st.sampled_from([cavity(), heated()]))).to_toml()
    at, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 20))
    text = text[:at] + data.draw(st.text(max_size=10)) + text[at + length :]
    path.write_text(text, encoding="utf-8", errors="replace")
    overrides = data.draw(st.lists(st.text(max_size=8) | st.builds("{}={}".format, words, words), max_size=2))
    try:
        Case.load(path, overrides)
    except BadInput as error:
        assert str(error)  # noqa: PT017


sizes = st.floats(1e-6, 1e6)
triples = st.tuples(*[st.floats(-1e9, 1e9)] * 3)

@st.composite
def placed(draw):
    """Cells, lengths and an origin: so many cells at most that the narrowest is wider than the gap between numbers."""
    result = []
    for _ in "xyz":
        length, start = draw(sizes), draw(st.floats(-1e9, 1e9))
        apart = np.spacing(max(abs(start), abs(start + length)))
        most = min(2**31 - 1, int(length / apart / 3))
        assume(most >= 2)  # a domain that is there, in double precision
        result.append((draw(st.integers(2, min(1024, most)) | st.integers(2, most)), length, start))
    cells, lengths, origin = zip(*result, strict=True)
    widths = [length / n for n, length in zip(cells, lengths, strict=True)]
    assume(min(widths) / max(widths) > np.finfo(float).eps)
    return {"cells": cells, "lengths": lengths, "origin": origin}


@st.composite
def cases(draw):
    """Sound cases that use every key."""
    axes = {axis: draw(st.booleans()) for axis in "xyz"}
    heat = draw(st.none() | st.fixed_dictionaries({"diffusivity": st.floats(1e-9, 1e3)}, optional={
        "expansion": sizes, "reference": st.floats(-9, 9), "source": sizes}))
    boundaries = {axis: "periodic" for axis, closed in axes.items() if closed}
    for face in FACES:
        if not axes[face[0]]:
            moving = [0.0 if axis == face[0] else draw(st.floats(-2, 2)) for axis in "xyz"]
            warm = draw(st.sampled_from([{}, {"temperature": 2.0}, {"heat_flux": -1.0}])) if heat else {}
            wall = {"type": "wall", "velocity": moving, **warm}
            boundaries[face] = draw(st.sampled_from(["wall", "slip", "symmetry", wall]))
    tables = {
        "title": draw(st.text(min_size=1, max_size=20).filter(lambda text: text.isprintable() and text.strip())),
        "grid": draw(placed()),
        "fluid": {"viscosity": draw(st.floats(0, 1e9))},
        "boundaries": boundaries, "heat": heat,
        "body": {"gravity": draw(triples), "force": draw(triples), "rotation": draw(triples)},
        "turbulence": draw(st.sampled_from([None, {"model": "vreman"}, {"model": "smagorinsky", "damping": "none"}])),
        "initial": {"velocity": [draw(st.sampled_from([1, -0.25, "sin(x)*y", "x  > 3"])) for _ in "xyz"]},
        "time": draw(st.sampled_from([{"end": 2.5}, {"steps": 7}]))
        | draw(st.sampled_from([{}, {"cfl": 0.1}, {"step": 1e-3}]))
        | draw(st.sampled_from([{}, {"steady": 1e-6}])),
        "output": draw(st.sampled_from([{}, {"every": 0.1}, {"every": {"steps": 4}}, {"fields": ["p", "u"]}])),
        "monitor": draw(st.sampled_from([{}, {"every": 3}, {"every": {"steps": 1}}])),
        "machine": draw(st.fixed_dictionaries({}, optional={
            "blocks": st.just([1, 2, 2]), "threads": st.integers(1, 64),
            "overlap": st.sampled_from(["none", "comm", "full"]), "debug": st.booleans(),
            "channel": st.sampled_from(["local", "peer", "ucx", "actor"]), "device": st.sampled_from(["cpu", "gpu"])})),
    }
    return Case(**tables)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=HALF)
@given(cases())
def test_writing_and_reading_gives_the_same_case(case):
    again = Case(**tomllib.loads(case.to_toml()))
    assert again == case
    assert again.to_toml() == case.to_toml()
