"""A task is one object per process, whatever way it came, and comes with the tasks that are compiled with it."""

from __future__ import annotations

import base64
import pickle
import subprocess
import sys

import cloudpickle

from taskflow.runtime.tasks import Read, Write, siblings, task

TEXT = """
TASK rise(Range range, In a, Out b) { for_cells(range, CELL(c) { b[c] = a[c] + 1; }); }
"""


@task(kernel=TEXT)
def rise(a: Read, b: Write) -> None: ...


def test_siblings_share_module_and_text():
    assert siblings(rise) == (rise,)


def test_a_task_of_a_function_is_itself_when_it_comes_home():
    @task
    def copied(a: Read, b: Write) -> None:
        b[...] = a[...]

    assert pickle.loads(cloudpickle.dumps(copied)) is copied


SENDER = """
import base64, cloudpickle, dataclasses, sys
import taskflow.runtime.tasks as tf

TEXT = '''
TASK scale(Range range, In a, Out b, Factor f) { for_cells(range, CELL(c) { b[c] = f.value * a[c]; }); }
TASK shift(Range range, In a, Out b, real by) { for_cells(range, CELL(c) { b[c] = a[c] + by; }); }
'''

@dataclasses.dataclass(frozen=True)
class Factor:
    value: float

@tf.task(kernel=TEXT)
def scale(a: tf.Read, b: tf.Write, *, f: Factor) -> None: ...

@tf.task(kernel=TEXT)
def shift(a: tf.Read, b: tf.Write, *, by: float) -> None: ...

for message in ([scale, Factor(2.0)], [shift, scale, Factor(3.0)]):
    print(base64.b64encode(cloudpickle.dumps(message)).decode())
"""


def test_tasks_of_a_script_work_elsewhere():
    """What a script declares becomes, in another process, one task per declaration; its text compiles there."""
    done = subprocess.run([sys.executable, "-c", SENDER], capture_output=True, text=True, timeout=60, check=True)
    first, second = (pickle.loads(base64.b64decode(line)) for line in done.stdout.split())
    scale, factor = first
    shift, again, _ = second
    assert again is scale
    assert siblings(shift) == siblings(scale) == (scale, shift)
    assert type(factor) is scale.constants["f"]

    from taskflow.runtime.machine.device import cpu
    from taskflow.runtime.machine.kernel import Layout, compiled
    from taskflow.runtime.regions import Box

    device, box = cpu(1), Box.of((4, 3, 2))
    a, b = (device.allocate(box.shape[::-1], "f4") for _ in "ab")
    a[...] = 3
    for item, constants, expected in ((scale, {"f": factor}, 6.0), (shift, {"by": 0.5}, 3.5)):
        compiled(item, "f4", device).bind(box, Layout(box.lo, b.shape), [a, b], constants, {})()
        assert (b == expected).all()
