"""Pickled values: the same content is the same function; what cannot travel is said."""

import sys
import threading
import types

import pytest

from taskflow.common.errors import BadInput, RunFailed
from taskflow.runtime.cluster.jobs import Pickled


def made(factor):
    return lambda x: factor * x


def test_the_same_content_is_one_function():
    one, other, third = (Pickled.of(made(factor)) for factor in (2, 2, 3))
    assert one == other != third
    assert one.shared() is other.shared() is not third.shared()
    assert (one.shared()(5), third.shared()(5)) == (10, 15)


def test_threads_share_it_too():
    result = []
    threads = [threading.Thread(target=lambda: result.append(Pickled.of(made(7)).shared())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(function) for function in result}) == 1
    assert len(result) == 4


def test_a_value_of_ones_own():
    pickled = Pickled.of(([1, 2],))
    assert pickled.open() == ([1, 2],)
    assert pickled.open() is not pickled.open()


def test_what_cannot_travel():
    with pytest.raises(BadInput, match=r"cannot be sent to the blocks \(TypeError: .*lock.*\); files, clients"):
        Pickled.of(threading.Lock())


def test_a_module_that_is_not_there(monkeypatch):
    module = types.ModuleType("only_here")
    exec("def f(): pass", module.__dict__)
    monkeypatch.setitem(sys.modules, "only_here", module)
    pickled = Pickled.of(module.f)
    monkeypatch.delitem(sys.modules, "only_here")
    with pytest.raises(RunFailed, match="No module named 'only_here': what a script imports has to be installed"):
        pickled.shared()
