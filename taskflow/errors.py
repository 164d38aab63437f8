"""What can go wrong, by who has to act: `BadInput` is for the user to correct, `RunFailed` ended an accepted run."""

from taskflow.text import visible


class TaskflowError(Exception):
    """Every error that taskflow raises on purpose. `exit_code` is what the command returns for it."""

    exit_code = 1

    def __str__(self) -> str:
        return visible(super().__str__())  # it may quote files of others


class BadInput(TaskflowError):
    """A case, command or call that cannot be obeyed; the message names the key, its value and the remedy."""

    exit_code = 2


class RunFailed(TaskflowError):
    """A run that began and could not go on; what it had written stays readable."""


class Lost(RunFailed):
    """A worker, a GPU or a connection is gone, and with it a part of the run, of which nothing else is wrong: it can go
    on from a checkpoint. `workers` are addresses of those to blame, as far as that is known.
    """

    workers: frozenset[str] = frozenset()


class ChannelError(Lost):
    """A message between two blocks was lost: the peer died, closed its channel, or sent something else."""


class ChannelTimeout(ChannelError):
    """A message did not arrive, or was not taken, within its deadline; names block, peer, sequence and seconds."""


class Aborted(ChannelError):
    """Somebody asked this block to stop while it waited; carries that reason."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, raised where Ctrl-C would be."""


class Interrupted(RunFailed):
    """The user asked the run to stop (Ctrl-C); it ended after a step, with its last state written."""

    exit_code = 130


class Stopped(RunFailed):
    """The system asked the run to stop (SIGTERM); it ended after a step, with a checkpoint from which it can go on."""

    exit_code = 75
