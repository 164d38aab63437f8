"""A task is one object per process, whatever way it came, and comes with the tasks that are compiled with it."""

from __future__ import annotations

import base64
import pickle
import subprocess
import sys

import cloudpickle
import numpy as np

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


FACTOR = """
import base64, cloudpickle
import taskflow.runtime.tasks as tf

factor = 1.0
values = {"shift": 0.0}

@tf.task
def scale(a: tf.Read[1], b: tf.Write) -> None:
    b[...] = factor * a[...] + values["shift"]
    assert scale.name == "scale"

def send():
    tf.siblings(scale)[0].fields["a"].stencil.reach  # which is kept once it has been worked out
    print(base64.b64encode(cloudpickle.dumps(lambda: scale)).decode())

send()
send()
factor = 2.0
send()
values["shift"] = 3.0
send()
factor, values["shift"] = 1.0, 0.0
send()
"""


def test_a_task_whose_globals_have_changed_is_another_one():
    done = subprocess.run([sys.executable, "-c", FACTOR], capture_output=True, text=True, check=True)
    tasks = [pickle.loads(base64.b64decode(line))() for line in done.stdout.split()]
    assert tasks[0] is tasks[1] is tasks[4]
    assert len(set(tasks)) == 3
    assert pickle.loads(cloudpickle.dumps(tasks)) == tasks
    results = []
    for made in tasks[1:4]:
        b = np.zeros(1)
        made.body({...: np.full(1, 5.0)}, b)
        results.append(b[0])
    assert results == [5.0, 10.0, 13.0]


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
    done = subprocess.run([sys.executable, "-c", SENDER], capture_output=True, text=True, check=True)
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
