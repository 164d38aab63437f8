"""Tasks on their way to other processes.

One that a module holds is pickled by its name, like a function. Any other (of a script, of a notebook, of a function)
is pickled by value, with its siblings; a process that has met it before takes the one it has. One in Python is another
task there once anything has changed that its body refers to, such as a global variable.
"""

from __future__ import annotations

import copyreg
import sys
import threading
import uuid
from contextvars import ContextVar
from dataclasses import fields
from hashlib import blake2b
from importlib import import_module
from typing import Any

import cloudpickle

from taskflow.runtime.tasks.task import Task

Definition = tuple[str, dict[str, Any]]  # identity, and what the task is made of

_lock = threading.Lock()
_identities: dict[Task, str] = {}  # of the tasks that went to other processes or came from them
_known: dict[str, Task] = {}  # the same, the other way
_together: dict[Task, tuple[Task, ...]] = {}  # those that came by value, with their siblings
_compared = ContextVar("_compared", default=False)  # whether what is pickled now is compared alone, and never read


def siblings(task: Task) -> tuple[Task, ...]:
    """The tasks declared in the same module for the same kernel text, `task` among them, by name."""
    if task in _together:
        return _together[task]
    if task.derived:
        base, variant = task.derived
        return tuple(sibling.of(variant) for sibling in siblings(base))
    module = sys.modules.get(task.body.__module__)
    together = {task.name: task}
    for value in list(vars(module).values()) if module and task.kernel is not None else ():
        if isinstance(value, Task) and value.kernel == task.kernel:
            together.setdefault(value.name, value)
    return tuple(together[name] for name in sorted(together))


def _reduce(task: Task) -> tuple[Any, ...]:
    if task.derived:
        return Task.of, task.derived
    module = task.body.__module__
    if module != "__main__" and getattr(sys.modules.get(module), task.name, None) is task:
        return _by_name, (module, task.name)
    group = siblings(task)
    definitions = tuple(map(_define, group))
    return _by_value, (definitions, definitions[group.index(task)][0])


def _define(task: Task) -> Definition:
    identity = _identity(task)
    _known[identity] = task
    return identity, {field.name: getattr(task, field.name) for field in fields(task)}


def _identity(task: Task) -> str:
    """The same for a task at home as long as what its body refers to is the same, and ever after for one that came."""
    identity = _identities.setdefault(task, uuid.uuid4().hex)
    if task.kernel is not None or task in _together or _compared.get():
        return identity
    token = _compared.set(True)
    try:
        content = cloudpickle.dumps(task.body)
    finally:
        _compared.reset(token)
    return f"{identity} {blake2b(content, digest_size=16).hexdigest()}"


def _by_name(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def _by_value(definitions: tuple[Definition, ...], own: str) -> Task:
    with _lock:
        for identity, parts in definitions:
            if identity not in _known:
                task = _known[identity] = Task(**parts)
                _identities[task], _together[task] = identity, ()
        group = tuple(_known[identity] for identity, _ in definitions)
        for task in group:
            if task in _together:  # and not at home here
                _together[task] = group
        return _known[own]


copyreg.pickle(Task, _reduce)
