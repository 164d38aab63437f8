"""What the runtime would record for a case here, proved before anything runs."""

from __future__ import annotations

from taskflow.flow.statistics import SHARE
from taskflow.machine import Mapper
from taskflow.proof import Hardware, Programs, Proof, prove
from taskflow.simulation.estimate import Estimate


def prove_case(found: Estimate) -> Proof:
    """Prove the templates of all blocks for every order of steps and monitors after the start."""
    setup, blocks, gpu = found.setup, len(found.places), found.device == "gpu"
    model, debug = setup.model, setup.case.machine.debug
    direct = gpu and (blocks == 1 or found.channel == "peer")
    hardware = Hardware(gpu, (0,) * blocks if direct else None)
    programs: Programs = {model.step: tuple(model.scalars(1.0, 1.0)), setup.monitor: ()}
    start: Programs = {model.start: ("dt",)}
    if setup.settled is not None:
        steadiness = setup.settled.steadiness
        programs = {**programs, steadiness.compare: (), steadiness.keep: ()}
    for averaged in setup.averaged.values():
        start = {**start, averaged.begin: ()}
        programs = {**programs, averaged.sample: (SHARE,)}
    mapper = Mapper(setup.case.machine.overlap, debug=debug)
    return prove(setup.partition, programs, mapper, hardware, start=start)
