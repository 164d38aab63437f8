"""What is worked out once is one object, also for threads that ask at the same time."""

import threading
from concurrent.futures import ThreadPoolExecutor

from taskflow.common.caching import cached_property


class Shared:
    def __init__(self, threads):
        self.barrier = threading.Barrier(threads, timeout=600)

    @cached_property
    def value(self):
        """An object that is not made before all threads make one."""
        self.barrier.wait()
        return object()


def test_all_threads_see_the_one_that_was_stored_first():
    shared = Shared(8)
    with ThreadPoolExecutor(8) as pool:
        values = list(pool.map(lambda _: shared.value, range(8)))
    assert {id(value) for value in values} == {id(shared.value)}


def test_the_class_has_the_property_itself():
    assert isinstance(Shared.value, cached_property)
    assert "not made before" in Shared.value.__doc__
