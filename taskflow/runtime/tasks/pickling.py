"""Transfer of tasks to other processes.

A task held by a module is pickled by name, like a function. Any other task (of a script, a notebook or a function) is
pickled by value, with its siblings. A process that has met it before uses its own copy. A Python task becomes another
task there once anything that its body refers to has changed, such as a global variable.
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

Definition = tuple[str, dict[str, Any]]  # identity and members of a task

_lock = threading.Lock()
_identities: dict[Task, str] = {}  # of tasks sent to other processes or received from them
_known: dict[str, Task] = {}  # the inverse
_together: dict[Task, tuple[Task, ...]] = {}  # tasks received by value, with their siblings
_compared = ContextVar("_compared", default=False)  # whether the present pickle is for comparison only


def siblings(task: Task) -> tuple[Task, ...]:
    """Return the tasks declared in the same module for the same kernel text, including `task`, by name."""
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
    """Return an identity: for a local task unchanged as long as its body refers to the same values, for a received one
    permanent.
    """
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
            if task in _together:  # not local
                _together[task] = group
        return _known[own]


copyreg.pickle(Task, _reduce)
