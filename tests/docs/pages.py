"""The pages whose blocks are executed, and somebody who reads one."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.docs.fences import fences
from tests.docs.reader import ROOT


def pages(*places: str) -> list[str]:
    """Those of some files and folders that have something to execute."""
    result = [page for place in places for page in sorted((ROOT / place).glob("*.md")) or [ROOT / place]]
    blocks = {page.relative_to(ROOT).as_posix(): fences(page) for page in result}
    return [page for page, told in blocks.items() if any(fence.language in ("sh", "python") for fence in told)]


PATHS = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))  # whatever folder it reads in
HOWTO = pages("docs/howto")
OTHERS = pages("README.md", "docs/index.md", "docs/tutorial.md", "docs/tutorial_body_fitted.md", "docs/reference")
EXAMPLES = pages("docs/examples")  # each computes for a minute
ON_GPUS = [page for page in HOWTO + OTHERS if any(fence.has("gpu") for fence in fences(ROOT / page))]


def read(page: str, folder: Path, *options: str) -> None:
    """All that a page says works. Nothing that it began is left, however it ends."""
    desk, said = folder / "desk", folder / "said"
    desk.mkdir()
    command = [sys.executable, "-m", "tests.docs.reader", page, str(desk), *options]
    with (
        said.open("w") as file,
        subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": PATHS},
            stdout=file,
            stderr=file,
            start_new_session=True,
        ) as reader,
    ):
        try:
            code = reader.wait()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(reader.pid, signal.SIGKILL)
    assert code == 0, said.read_text()[-6000:]
