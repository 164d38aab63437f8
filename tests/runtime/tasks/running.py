"""Programs of several steps, analysed and executed in any order, beside the same program in one memory."""

import random

import numpy as np

from taskflow.runtime.tasks import Roles, analyse, record, serial

from .palette import FIELDS, SCALARS
from .spy import Versions, conflicts, unordered

START = {name: 0.25 * n for n, name in enumerate(SCALARS, 1)}


def orders(seed):
    """Priorities that lead to different topological orders: at random, latest first, and block after block."""
    number = random.Random(seed)
    return number.choice(
        (
            lambda node: number.random(),
            lambda node: number.random(),
            lambda node: node.block,
            lambda node: -node.block,
            lambda node: {"middle": 0, "whole": 1, "edge": 2}.get(getattr(node, "part", ""), 3),
        )
    )


def random_memory(region, seed=0):
    """Fields of numbers between 0 and 1, ghost layers included."""
    number = np.random.default_rng(seed)
    return {name: number.random(array.shape) for name, array in serial.allocate(region).items()}


def recorded(programs, names=FIELDS):
    """The launches of each step; roles go from step to step."""
    roles, steps = Roles.of(names), []
    for program in programs:
        launches, roles = record(program, roles)
        steps.append(launches)
    return steps


def analysed(partition, steps, following, **options):
    """The analysis of each step with what the last one left valid. `following` says what each step believes to come
    next: "next" (the truth), "none", or "first" (the first step again).
    """
    valid, result = None, []
    for n, launches in enumerate(steps):
        after = {"next": steps[n + 1] if n + 1 < len(steps) else (), "none": (), "first": steps[0]}[following]
        result.append(analyse(launches, partition, valid=valid, following=after, **options))
        valid = result[-1].valid
    return result


def scattered(partition, memory):
    """The arrays of every block, with NaN in every cell that the block does not own: nothing is right by chance."""
    parts = serial.scatter(partition, memory)
    for part, block, owned in zip(parts, partition.blocks, partition.owned, strict=True):
        for array in part.values():
            hidden = np.ones(array.shape, bool)
            hidden[owned.slices(block.grow(partition.region.ghost).lo)] = False
            array[hidden] = np.nan
    return parts


def assert_bits(partition, steps, analyses, priorities, direct=False):
    """Graphs executed in any order leave the bits of the program in one memory, whether sends are buffered or fill the
    ghost cells of the other block themselves.
    """
    region = partition.region
    whole, scalars = random_memory(region), dict(START)
    parts, copies = scattered(partition, whole), [dict(START) for _ in partition.blocks]
    for launches, analysis, priority in zip(steps, analyses, priorities, strict=True):
        serial.run_program(region, whole, launches, scalars)
        serial.run_graph(analysis.graph, analysis.graph.order(priority), partition, parts, copies, direct=direct)
    gathered = serial.gather(partition, parts)
    inside = region.bounds.slices(region.cells.grow(region.ghost).lo)
    for name, array in whole.items():
        assert np.array_equal(array[inside], gathered[name][inside]), name
    assert copies == [scalars] * len(partition)


def check_versions(partition, steps, analyses, priorities, direct=False):
    """Every read finds the version that the program means, and what is called valid is."""
    versions = Versions(partition, direct)
    for launches, analysis, priority in zip(steps, analyses, priorities, strict=True):
        versions.run(launches, analysis.graph, analysis.graph.order(priority))
        versions.assert_valid(analysis.valid)
    versions.assert_owned()


def assert_conflicts(partition, analyses):
    """No two nodes that interfere are free to change places."""
    for analysis in analyses:
        assert not unordered(analysis.graph, conflicts(analysis.graph, partition))
