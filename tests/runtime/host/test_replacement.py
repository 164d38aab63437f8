"""Which workers can be used after some were lost; the cluster is played, and so is the clock."""

from types import SimpleNamespace

import pytest

from taskflow.common.errors import RunFailed
from taskflow.runtime.host import remaining_workers, workers


class Cluster:
    """Says at each second who is there; nannies restart whom they have, or do not."""

    def __init__(self, *there, restarts="OK", bare=()):
        self.there, self.how, self.bare = there, restarts, bare
        self.now, self.restarted = 0, []

    def workers(self):
        names = self.there[min(self.now, len(self.there) - 1)]
        return {name: {"nanny": None if name in self.bare else f"nanny of {name}"} for name in names}

    def restart_workers(self, workers, timeout, raise_for_error):
        self.restarted += workers
        if isinstance(self.how, Exception):
            raise self.how
        return dict.fromkeys(workers, self.how)


@pytest.fixture
def mend(monkeypatch):
    def call(cluster, *lost, expected=3):
        def sleep(_):
            cluster.now += 1

        monkeypatch.setattr(workers, "known_workers", Cluster.workers)
        monkeypatch.setattr(workers, "time", SimpleNamespace(sleep=sleep, monotonic=lambda: cluster.now))
        return remaining_workers(cluster, lost, expected)

    return call


def test_who_died_is_waited_for(mend):
    """A nanny brings a new one, with another address, after some seconds."""
    assert mend(Cluster("ab", "ab", "abd"), "c") == ["a", "b", "d"]


def test_who_does_not_come_is_done_without(mend):
    cluster = Cluster("ab")
    assert mend(cluster, "c") == ["a", "b"]
    assert workers.RETURN <= cluster.now <= workers.RETURN + 2


def test_who_is_there_but_lost_is_replaced_by_a_nanny(mend):
    cluster = Cluster("abc")
    assert mend(cluster, "c") == ["a", "b", "c"]
    assert cluster.restarted == ["c"]


@pytest.mark.parametrize("cluster", [
    Cluster("abc", bare="c"), Cluster("abc", restarts="timed out"), Cluster("abc", restarts=ValueError("c has left")),
], ids=["no", "late", "vanished"])  # fmt: skip
def test_or_left_alone(cluster, mend):
    assert mend(cluster, "c") == ["a", "b"]


def test_who_is_new_in_the_place_of_one_that_died_is_used(mend):
    """A worker with a port of its own has the old address again."""
    assert mend(Cluster("ab", "abc"), "c") == ["a", "b", "c"]


def test_nobody(mend):
    with pytest.raises(RunFailed, match="no worker is left"):
        mend(Cluster(""), "a")
