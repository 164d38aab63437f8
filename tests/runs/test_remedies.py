"""What the runtime refuses is said with the words of those who wrote a case file or typed a command."""

import pytest

from taskflow.common.errors import BadArgument, BadInput, RunFailed, SchedulerGone
from taskflow.runs.state.remedies import as_keys

REFUSED = [
    (("blocks", "[1, 1, 7]", ": 7 blocks along z", "use 6"), "machine.blocks = [1, 1, 7]: 7 blocks along z; use 6"),
    (("device", '"gpu"', ": no", 'use {parameter} = "cpu"'), 'machine.device = "gpu": no; use machine.device = "cpu"'),
    (("channel", '"pear"', " is not a channel", "use peer"), 'machine.channel = "pear" is not a channel; use peer'),
    (("scheduler_file", "a.json", ": no such file", "begin one"), "--scheduler-file a.json: no such file; begin one"),
    (("slurm", "gpus=two", "", "give an integer"), "--slurm gpus=two: give an integer"),
    (("slurm", None, ": there is no sbatch here", "omit it"), "--slurm: there is no sbatch here; omit it"),
]


@pytest.mark.parametrize(("refused", "text"), REFUSED)
def test_arguments_are_keys_and_options(refused, text):
    with pytest.raises(BadInput) as raised, as_keys():
        raise BadArgument(*refused)
    assert str(raised.value) == text


def test_a_run_whose_scheduler_has_gone_can_go_on():
    with pytest.raises(RunFailed, match="with another one, a run with --resume, or resume=True"), as_keys():
        raise SchedulerGone("the scheduler has exited; start again with another one")
