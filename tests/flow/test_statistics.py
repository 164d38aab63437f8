"""Running statistics against those of NumPy on all samples at once."""

from __future__ import annotations

from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskflow.flow.measures.statistics import SHARE, VELOCITY, Statistics, covariance_of, mean_of
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.threads import run_threads
from taskflow.runtime.machine.trace.mapper import Mapper
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region

CELLS = (5, 4, 6)
PERIODIC = (True, False, False)
ALL = (*VELOCITY, "p", "T")


def partition_of(statistics: Statistics, blocks, dtype: str) -> Partition:
    roles = dict.fromkeys((*ALL, *statistics.fields))
    places = dict(zip(VELOCITY, ("fx", "fy", "fz"), strict=True))
    space = FieldSpace(Field(name, dtype, places.get(name, "c")) for name in roles)
    return Partition(Region(Box.of(CELLS), space, PERIODIC), blocks)


def states(count: int, dtype: str, level: float = 0.0, seed: int = 0) -> list[dict[str, np.ndarray]]:
    """Fields [z, y, x] over the cells and one layer beyond them, the same beyond periodic faces."""
    numbers = np.random.default_rng(seed)
    result = []
    for _ in range(count):
        state = {name: level + numbers.standard_normal([n + 2 for n in CELLS[::-1]]).astype(dtype) for name in ALL}
        for values in state.values():
            values[..., 0], values[..., -1] = values[..., -2], values[..., 1]
        result.append(state)
    return result


def centred(state: dict[str, np.ndarray], name: str) -> np.ndarray:
    """Values in cell centres."""
    values = state[name].astype("f8")
    if name in VELOCITY:
        axis = 2 - VELOCITY.index(name)
        values = (values + np.roll(values, -1, axis)) / 2
    return values[1:-1, 1:-1, 1:-1]


def run(statistics: Statistics, samples, weights, blocks=(1, 1, 1), dtype="f8") -> dict[str, np.ndarray]:
    """The statistics of the samples, computed on blocks."""
    partition = partition_of(statistics, blocks, dtype)

    def job(shard):
        box, total = partition.owned[shard.block], 0.0
        shard.run(statistics.begin)
        for state, weight in zip(samples, weights, strict=True):
            shard.write({name: values[box.slices((-1, -1, -1))] for name, values in state.items()}, box)
            total += weight
            shard.run(statistics.sample, **{SHARE: weight / total})
        return {name: (shard.cells, shard.read(name)) for name in statistics.fields}

    result = {name: np.full(CELLS[::-1], np.nan, dtype) for name in statistics.fields}
    for share in run_threads(partition, job, cpu(1), Mapper("none")):
        for name, (cells, values) in share.items():
            result[name][cells.slices((0, 0, 0))] = values
    return result


@pytest.mark.parametrize("names", [ALL, VELOCITY, ("p", "T")])
@pytest.mark.parametrize("order", [1, 2])
def test_means_and_covariances_of_all_pairs(names, order):
    samples, weights = states(4, "f8"), [0.3, 1.1, 0.2, 2.5]
    statistics = Statistics(names, Box.of(CELLS), order)
    result = run(statistics, samples, weights)
    series = {name: np.array([centred(state, name) for state in samples]) for name in names}
    means = {name: np.average(values, axis=0, weights=weights) for name, values in series.items()}
    for name in names:
        np.testing.assert_allclose(result[mean_of(name)], means[name], rtol=0, atol=1e-14)
    assert set(result) == {*statistics.means, *statistics.covariances}
    assert len(statistics.covariances) == (len(names) * (len(names) + 1) // 2 if order == 2 else 0)
    for role, (a, b) in statistics.covariances.items():
        products = (series[a] - means[a]) * (series[b] - means[b])
        np.testing.assert_allclose(result[role], np.average(products, axis=0, weights=weights), rtol=0, atol=1e-14)


def test_velocities_that_live_in_centres_are_averaged_there():
    samples, weights = states(3, "f8"), [0.3, 1.1, 0.2]
    result = run(Statistics((*VELOCITY, "p"), (Box.of(CELLS),), centred=True), samples, weights)
    series = {name: np.array([state[name][1:-1, 1:-1, 1:-1] for state in samples]) for name in (*VELOCITY, "p")}
    for a, b in combinations_with_replacement(series, 2):
        u, v = (series[name] - np.average(series[name], axis=0, weights=weights) for name in (a, b))
        expected = np.average(u * v, axis=0, weights=weights)
        np.testing.assert_allclose(result[covariance_of(a, b)], expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("blocks", [(2, 1, 3), (1, 2, 2)])
def test_the_bits_do_not_depend_on_the_blocks(blocks, dtype):
    samples, weights, statistics = states(3, dtype), [1.0, 0.7, 1.3], Statistics(ALL, Box.of(CELLS))
    one, cut = (run(statistics, samples, weights, item, dtype) for item in ((1, 1, 1), blocks))
    for name, values in one.items():
        np.testing.assert_array_equal(cut[name], values, err_msg=name)


def test_one_sample_is_its_mean_and_has_no_variance():
    (sample,), statistics = states(1, "f4"), Statistics(ALL, Box.of(CELLS))
    result = run(statistics, [sample], [0.1], dtype="f4")
    for name in ("p", "T"):
        np.testing.assert_array_equal(result[mean_of(name)], sample[name][1:-1, 1:-1, 1:-1])
    assert all(not result[role].any() for role in statistics.covariances)


def test_a_large_mean_costs_no_digits_of_the_variance():
    """A difference of sums of squares would have no correct digit: 1e8^2 has 16 of them before the point."""
    samples, statistics = states(8, "f8", level=1e8), Statistics(VELOCITY, Box.of(CELLS))
    result = run(statistics, samples, [1.0] * 8)
    u = np.array([centred(state, "u") for state in samples])
    np.testing.assert_allclose(result[covariance_of("u", "u")], u.var(axis=0), rtol=1e-6)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=6), st.integers(0, 99))
def test_variances_are_never_negative_and_bound_covariances(weights, seed):
    """Cauchy and Schwarz; to a sample of almost no weight, too."""
    sampled = states(len(weights), "f4", 3.0, seed)
    result = run(Statistics((*VELOCITY, "T"), Box.of(CELLS)), sampled, weights, dtype="f4")
    for a, b in pairwise((*VELOCITY, "T")):
        one, other, both = (result[covariance_of(*pair)].astype("f8") for pair in ((a, a), (b, b), (a, b)))
        assert (one >= 0).all()
        assert (both**2 <= one * other * (1 + 1e-5) + 1e-30).all()
