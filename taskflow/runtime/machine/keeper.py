"""A copy of the state of a block in the memory of its device, made again and again at the cost of a launch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from taskflow.runtime.machine.kernel import copiers
from taskflow.runtime.machine.shard import Shard
from taskflow.runtime.regions import Box

Calls = Sequence[Callable[[], None]]


class Keeper:
    """Keeps `parts` of fields in these roles, and all scalars of a shard. Roles are identical on all blocks, although
    a block may have no part in one. Fields must not be stored in tiles. Collective, as it allocates memory.
    """

    def __init__(self, shard: Shard, roles: Collection[str], parts: Sequence[tuple[str, Box]]) -> None:
        self._shard, self._roles, self._parts, self._scalars = shard, roles, parts, dict[str, float]()
        fields = shard.partition.fields
        self._copies = [
            shard.device.allocate(shard.instances.view(shard.roles[role], box).shape, fields[shard.roles[role]].dtype)
            for role, box in parts
        ]
        self._calls: dict[object, tuple[Calls, Calls]] = {}  # by the fields in the roles: to keep, to restore
        shard.meet()  # who allocates may have to wait for all GPUs of a process

    def keep(self) -> None:
        """Copy the present state, in the order of enqueued work."""
        self._scalars = dict(self._shard.scalars)
        for call in self._bound()[0]:
            call()

    def restore(self) -> None:
        """Restore the fields in these roles, and the scalars, from the last copy. Collective."""
        shard = self._shard
        shard.synchronize()
        for call in self._bound()[1]:
            call()
        shard.overwritten(self._roles)
        shard.scalars.set(self._scalars)

    def _bound(self) -> tuple[Calls, Calls]:
        shard = self._shard
        key = shard.roles.key()
        if key not in self._calls:
            views = [shard.instances.view(shard.roles[role], box) for role, box in self._parts]
            pairs, lane = list(zip(self._copies, views, strict=True)), shard.lanes[0]
            back = [(view, copy) for copy, view in pairs]
            self._calls[key] = copiers(shard.device, pairs, lane), copiers(shard.device, back, lane)
        return self._calls[key]
