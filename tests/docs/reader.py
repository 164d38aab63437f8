"""A reader who types what a page says, block by block, in a folder of his own, and stops where something fails:

    python -m tests.docs.reader PAGE FOLDER [--in-full] [--gpu]

Commands are typed into a shell, Python into one session per page. Comments before a block, which nobody sees on the
page, tell the reader what the page cannot: `<!-- test: WORD ... -->`, one of

    file NAME       the block is what is in this file
    append NAME     the block comes to the end of this file
    given COMMAND   what a reader has done before, or knows to change
    set KEY=VALUE   from here on `taskflow run` and `check` have this, so that it takes seconds; not with --in-full
    exit CODE       the commands end with this code, not 0
    terminals       each line is typed into a terminal of its own, and the last one is waited for
    prints REGEX    what is found in the output, in full
    gpu             the block needs a GPU
    skip REASON     the block is not executed
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from tests.docs.fences import Fence, fences

ROOT = Path(__file__).parents[2]
COMMAND = """#!/bin/bash
word=$1; shift
case $word in run|check) exec {python} -m taskflow $word {sets} "$@";; *) exec {python} -m taskflow $word "$@";; esac
"""


@dataclass
class Reader:
    folder: Path
    in_full: bool
    gpu: bool
    sets: list[str] = field(default_factory=list)
    session: ModuleType = field(default_factory=lambda: ModuleType("__main__"))

    def __post_init__(self) -> None:
        """The folder of a checkout in which the package is installed."""
        for name in ("examples", "deploy"):
            (self.folder / name).symlink_to(ROOT / name)
        programs = self.folder / ".venv" / "bin"
        programs.mkdir(parents=True)
        (programs / "activate").touch()
        (programs / "python").write_text(f'#!/bin/bash\nexec {shlex.quote(sys.executable)} "$@"\n')
        self._install()
        (programs / "python").chmod(0o700)
        os.chdir(self.folder)
        paths = [str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]
        os.environ.setdefault("XDG_CACHE_HOME", str(Path.home() / ".cache"))  # each text is compiled once
        os.environ |= {"PATH": os.pathsep.join(paths), "HOME": str(self.folder), "MPLBACKEND": "Agg"}
        sys.modules["__main__"] = self.session

    def read(self, fence: Fence) -> None:
        """Do what a block says; RuntimeError where it does not do what the page says."""
        for change in fence.words("set"):
            self.set(change)
        for command in fence.words("given"):
            self._shell(command, 0)
        if fence.word("skip") or (fence.has("gpu") and not self.gpu):
            return
        said = ""
        for way, mode in (("file", "w"), ("append", "a")):
            if name := fence.word(way):
                path = Path(name).expanduser()
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open(mode) as file:
                    file.write(f"\n{fence.text}" if mode == "a" else fence.text)
        if fence.language == "sh":
            shell = self._terminals if fence.has("terminals") else self._shell
            said = shell(fence.text, int(fence.word("exit") or 0))
        elif fence.language == "python" and not (fence.word("file") or fence.word("append")):
            said = self._python(fence)
        for pattern in fence.words("prints"):
            if (self.in_full or not self.sets) and not re.search(pattern, said):
                raise RuntimeError(f"{fence.place}: it does not print {pattern}")

    def set(self, change: str) -> None:
        if not self.in_full:
            self.sets.append(change)
            self._install()

    def _install(self) -> None:
        """The command, with what makes cases smaller before what the reader gives."""
        command = self.folder / ".venv" / "bin" / "taskflow"
        sets = shlex.join(word for change in self.sets for word in ("--set", change))
        command.write_text(COMMAND.format(python=shlex.quote(sys.executable), sets=sets))
        command.chmod(0o700)

    def _shell(self, text: str, code: int) -> str:
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", text], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        print(done.stdout, end="", flush=True)
        if done.returncode != code:
            raise RuntimeError(f"the commands end with code {done.returncode}, not {code}:\n{text}")
        return done.stdout

    def _terminals(self, text: str, code: int) -> str:
        *before, last = text.splitlines()
        with ExitStack() as stack:
            for line in before:
                stack.enter_context(_terminal(line))
            return self._shell(last, code)

    def _python(self, fence: Fence) -> str:
        said = io.StringIO()
        code = compile("\n" * fence.line + fence.text, fence.place, "exec")
        try:
            with contextlib.redirect_stdout(said):
                exec(code, vars(self.session))
        finally:
            print(said.getvalue(), end="", flush=True)
        return said.getvalue()

    def compile_tasks(self) -> None:
        """The kernels that the page declares, whether it runs them or not."""
        from taskflow.runtime.machine.device import cpu
        from taskflow.runtime.machine.kernel import compiled
        from taskflow.runtime.tasks.task import Task

        for task in [value for value in vars(self.session).values() if isinstance(value, Task) and value.kernel]:
            for precision in ("f4", "f8"):
                compiled(task, precision, cpu(1))


@contextlib.contextmanager
def _terminal(line: str, quiet: float = 4.0) -> Iterator[None]:
    """A terminal in which something runs until it is ended; the next one is opened when it says nothing more."""
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(["bash", "-c", line], stdout=said, stderr=said, start_new_session=True) as process,
    ):
        try:
            before = -1
            while (now := os.fstat(said.fileno()).st_size) != before or not now:
                before = now
                time.sleep(quiet)
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)


def main(page: str, folder: str, *options: str) -> int:
    reader, place = Reader(Path(folder).resolve(), "--in-full" in options, "--gpu" in options), page
    try:
        for fence in fences(ROOT / page):
            place = fence.place
            print(f"--- {place} {fence.language}", flush=True)
            reader.read(fence)
        reader.compile_tasks()
    except Exception:
        traceback.print_exc()
        print(f"{place} does not do what the page says", flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
