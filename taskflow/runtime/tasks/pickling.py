"""Tasks on their way to other processes.

One that a module holds is pickled by its name, like a function. Any other (of a script, of a notebook, of a function)
is pickled by value, with its siblings; a process that has met it before takes the one it has.
"""

from __future__ import annotations

import copyreg
import sys
import threading
import uuid
from dataclasses import fields
from importlib import import_module
from typing import Any

from taskflow.runtime.tasks.task import Task

Definition = tuple[str, dict[str, Any]]  # identity, and what the task is made of

_lock = threading.Lock()
_identities: dict[Task, str] = {}  # of the tasks that went to other processes or came from them
_known: dict[str, Task] = {}  # the same, the other way
_together: dict[Task, tuple[Task, ...]] = {}  # those that came by value, with their siblings


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
    with _lock:
        definitions = tuple(_define(sibling) for sibling in siblings(task))
    return _by_value, (definitions, _identities[task])


def _define(task: Task) -> Definition:
    identity = _identities.setdefault(task, uuid.uuid4().hex)
    _known[identity] = task
    return identity, {field.name: getattr(task, field.name) for field in fields(task)}


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
