"""Time codes on the same flow, by turns, and print what shows that each did the work:

    python -m examples.peers [CODE...] [--cells N] [--steps N] [--rounds N] [--precision single|double]

Codes: taskflow, jax-cfd, exponax, peclet. By default all that are installed. Times are medians over the rounds, of
single steps. Energy and divergence belong to the end, the same time for all.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from importlib.metadata import PackageNotFoundError, version

from examples.peers.flow import Flow, Peer, State

CODES = ("taskflow", "jax-cfd", "exponax", "peclet")


def starter(code: str) -> Callable[[Flow], Peer]:
    """Return what starts a code. Raises ValueError with the remedy if its package is not installed."""
    module = importlib.import_module(f"examples.peers.with_{code.replace('-', '_')}")
    try:
        version(module.PACKAGE)
    except PackageNotFoundError:
        raise ValueError(f"{code} is not installed: pip install {module.PACKAGE}") from None
    return module.start


def installed() -> list[str]:
    """Return the codes whose packages are there."""
    found = []
    for code in CODES:
        try:
            starter(code)
        except ValueError as missing:
            print(f"without {missing}", file=sys.stderr)
        else:
            found.append(code)
    return found


def measure(
    codes: Sequence[str], flow: Flow, steps: int, rounds: int
) -> dict[str, tuple[float, float, State]]:
    """Return for each code the wall-clock and processor seconds of a step, medians over rounds, and its last state."""
    with ExitStack() as stack:
        peers: dict[str, Peer] = {}
        for code in codes:
            peers[code] = starter(code)(flow)
            stack.callback(getattr(peers[code], "close", lambda: None))
        for peer in peers.values():
            peer.advance(steps)  # compiles
        taken: dict[str, list[tuple[float, float]]] = {code: [] for code in codes}
        for _ in range(rounds):
            for code, peer in peers.items():
                wall, processor = time.perf_counter(), time.process_time()
                peer.advance(steps)
                taken[code].append(((time.perf_counter() - wall) / steps, (time.process_time() - processor) / steps))
        middle = {code: [statistics.median(part) for part in zip(*pairs, strict=True)] for code, pairs in taken.items()}
        return {code: (*middle[code], peer.state()) for code, peer in peers.items()}


def main(words: Sequence[str]) -> int:
    """Print a row for each code, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m examples.peers", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("codes", nargs="*", metavar="CODE", help=f"some of {', '.join(CODES)}; default: the installed")
    parser.add_argument("--cells", type=int, default=64)
    parser.add_argument("--steps", type=int, default=20, help="of a round, after as many that compile")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--precision", choices=("single", "double"), default="double")
    given = parser.parse_args(words)
    if unknown := [code for code in given.codes if code not in CODES]:
        parser.error(f"{unknown[0]}: unknown code; choose some of {', '.join(CODES)}")
    if min(given.cells // 4, given.steps, given.rounds) < 1:
        parser.error("give at least 4 cells, a step and a round")
    flow = Flow(given.cells, given.precision)
    try:
        results = measure(given.codes or installed(), flow, given.steps, given.rounds)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{'':10}{'ms':>10}{'cpu ms':>10}{'ns/cell':>10}{'energy':>12}{'divergence':>12}")
    for code, (wall, processor, state) in results.items():
        times = f"{1e3 * wall:10.3f}{1e3 * processor:10.3f}{1e9 * processor / flow.cells**3:10.1f}"
        print(f"{code:10}{times}{state.energy:12.8f}{state.divergence:12.1e}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
