"""The live display: drawn on a terminal, nowhere else; Ctrl-C typed there."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

import pytest

DRAWING = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A command on a pseudo-terminal of its own."""

    def __init__(self, shell, *words, **environment):
        self.shell, self.seen = shell, ""
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        settings = {"TERM": "xterm-256color", **environment}
        removed = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "CI", "GITHUB_ACTIONS")
        inherited = {key: value for key, value in os.environ.items() if key not in removed}
        self.process = subprocess.Popen(
            [*shell.command, *words], stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            env=inherited | settings, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(slave)

    def read(self, until=None):
        """All that appears until some words do, or the command ends."""
        end = time.monotonic() + self.shell.limit
        while until is None or until not in self.text:
            assert time.monotonic() < end, self.seen
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.master, 65536).decode(errors="replace")
                except OSError:  # the command has closed its end
                    break
            elif self.process.poll() is not None:
                break
        return self.text

    @property
    def text(self):
        """What appeared, without colours and movements."""
        return DRAWING.sub("", self.seen)

    def close(self):
        os.close(self.master)
        self.process.kill()
        return self.process.wait()


@pytest.fixture
def terminal(shell):
    opened = []

    def begin(*words, **environment):
        opened.append(Terminal(shell, *words, **environment))
        return opened[-1]

    yield begin
    for item in opened:
        item.close()


def test_a_run_is_shown_while_it_goes_on_and_its_report_after_it(terminal, here):
    shown = terminal("run", "cavity.toml", "--set", "time.end=20")
    text = shown.read()
    assert shown.process.wait(shown.shell.limit) == 0, text
    for word in ("A small cavity", "starting", " %", "step ", " of 20", "CFL ", "divergence ", "residual ", "cell/s"):
        assert word in text
    report = text[text.rindex("Finished at time 20") :]
    assert "T_eff" in report
    assert "taskflow plot cavity" in report
    assert "\x1b[1m" in shown.seen


@pytest.mark.slow
def test_ctrl_c_typed_on_a_terminal(terminal, here, report_of):
    shown = terminal("run", "cavity.toml", "--set", "time.steps=1000000", "--set", "machine.blocks=[1,1,2]")
    shown.read(until="Ctrl-C ends the run")
    os.write(shown.master, b"\x03")
    text = shown.read()
    assert shown.process.wait(shown.shell.limit) == 130, text
    assert "interrupted at time" in text
    assert "Traceback" not in text
    assert report_of(here / "cavity")["ended"] == "interrupted"


@pytest.mark.slow
def test_a_terminal_that_cannot_redraw_gets_lines(terminal, here):
    shown = terminal("run", "cavity.toml", TERM="dumb")
    assert "step 40 " in shown.read()


@pytest.mark.fast("environment0-*")
@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_errors_are_red_where_that_is_wanted(terminal, here, environment, coloured):
    shown = terminal("run", "cavity.toml", "--set", "time.ende=1", **environment)
    assert "time.ende = 1" in shown.read()
    assert ("\x1b[31m" in shown.seen) == coloured
