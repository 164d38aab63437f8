"""The process that draws the pictures of a run: started before the run, and notified when it has ended."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryFile

from taskflow.cases import Case
from taskflow.output import Guard
from taskflow.output.export.picture_files import begin_pictures, end_pictures
from taskflow.runs.state.setup import RunSetup
from taskflow.systems.base.pictures import orders_of

HOME = Path(__file__).parents[3]  # from which the package can be imported
PATIENCE = 600.0  # seconds for remaining pictures when the run has ended
LINES = 2  # of the output of the process, in a warning


def begin_drawing(directory: Path, sim: RunSetup) -> None:
    """Make the folder of pictures in a run directory, if the case has any. Raises OSError."""
    if sim.case.pictures:
        begin_pictures(directory, orders_of(sim.case, sim.domain, sim.partition, sim.system.metadata))


class DrawingProcess(AbstractContextManager["DrawingProcess"]):
    """The process that draws the pictures of a run, if any, for the duration of the context.

    It draws data that blocks leave in the run directory, when processors are idle, and ends once its standard input is
    closed, also if this process dies. `guard` is called before it changes the directory.
    """

    def __init__(self, case: Case, directory: Path, guard: Guard) -> None:
        self._directory, self._guard = directory, guard
        self._process: subprocess.Popen[bytes] | None = None
        if not case.pictures:
            return
        self._stderr = TemporaryFile()  # noqa: SIM115  open as long as the process writes
        paths = [str(HOME), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "taskflow.runs.drawing", str(directory.absolute())],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._stderr,
            start_new_session=True,  # Ctrl-C is for the run
        )

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._stderr.close()

    def finish(self) -> tuple[str, ...]:
        """Wait until everything is drawn; return errors as text."""
        process, self._process = self._process, None
        if process is None:
            return ()
        try:
            process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()[-LINES:]
        self._stderr.close()
        self._guard()
        end_pictures(self._directory)
        return (f"pictures are missing: {' '.join(lines)}",) if process.returncode else ()
