"""How long an exchange takes on this machine: `python tests/machine/channel/channel_measure.py` prints medians.

Two blocks stand for a ring of two: each exchanges with both its neighbours, both ways, at once.
"""

import time

import numpy as np
from channel_scenarios import soon
from channel_stages import ActorStage, ProcessStage, ThreadStage

from taskflow.machine.channel import AllReduce, Channel


def latency(channel: Channel, blocks: int) -> dict[int, float]:
    """Median microseconds of an exchange by message size."""
    peer = 1 - channel.block
    medians = {}
    sequence = 0
    slow = channel.name == "actor"
    for size, times in ((8, 2000), (65536, 1000), (1 << 20, 200)):
        inboxes, outboxes = np.zeros((2, size), np.uint8), np.ones((2, size), np.uint8)
        seconds = []
        for _ in range(times // 10 if slow else times):
            deadline = soon()
            begin = time.perf_counter()
            pending = [channel.receive(peer, sequence + n, inboxes[n]) for n in range(2)]
            pending += [channel.send(peer, sequence + n, outboxes[n]) for n in range(2)]
            for message in pending:
                message.wait(deadline)
            seconds.append(time.perf_counter() - begin)
            sequence += 2
        medians[size] = round(1e6 * float(np.median(seconds)), 1)
    return medians


def reduction(channel: Channel, blocks: int) -> float:
    """Median microseconds of an all-reduce of three numbers."""
    allreduce, values, seconds = AllReduce(channel, blocks), np.ones(3), []
    for _ in range(100 if channel.name == "actor" else 1000):
        begin = time.perf_counter()
        allreduce(values, ("max", "max", "sum"), soon())
        seconds.append(time.perf_counter() - begin)
    return round(1e6 * float(np.median(seconds)), 1)


def main() -> None:
    import channel_measure as this  # by name, for the other processes

    stages = {"local, threads": lambda: ThreadStage("local"), "ucx, processes": lambda: ProcessStage("ucx"),
              "auto, processes": lambda: ProcessStage("auto"), "actor, processes": ActorStage}
    for name, make in stages.items():
        stage = make()
        medians = stage.play(this.latency)[0]
        reductions = [stage.play(this.reduction, blocks)[0] for blocks in (2, 4)]
        stage.close()
        print(f"{name:17}", ", ".join(f"{size} B: {us} us" for size, us in medians.items()),
              "; all-reduce of 2 and 4 blocks:", reductions, "us", flush=True)


if __name__ == "__main__":
    main()
