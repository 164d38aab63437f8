"""Pictures on one block: what they are made of is copied out of the fields, and written for the process that draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from taskflow.output import Guard, Writer
from taskflow.output.pictures import undrawn, write_part
from taskflow.runtime.machine import Shard
from taskflow.simulation.build.pictures import Picture
from taskflow.simulation.schedule import Tick


class PictureRecording:
    """The part of one block in all pictures. Nobody waits for a picture: where too many are not drawn yet, it is left
    out.
    """

    def __init__(
        self,
        directory: Path,
        pictures: Sequence[Picture],
        shard: Shard,
        guard: Guard,
        placed: Callable[[float], Mapping[str, float]],
    ) -> None:
        self._directory, self._pictures, self._shard, self._placed = directory, pictures, shard, placed
        self.writer = Writer(sum(picture.most for picture in pictures), before=guard)
        self._left, self._written = Counter[str](), Counter[str]()  # by name; the second is the writer's
        self.left_out = 0

    def take(self, before: Tick, now: Tick, derive: Callable[[Tick], None]) -> None:
        """Leave what is due now and was not `before` to be drawn. All blocks have to call it."""
        for picture in self._pictures:
            if (now.step == 0 and now.output) or picture.every.due(before, now.step, now.time):
                unwritten = self._left[picture.name] - self._written[picture.name]
                mine = unwritten + undrawn(self._directory, picture.name, self._shard.block)
                (most,) = self._shard.allreduce((mine,), "max")
                if most >= picture.most:
                    self.left_out += 1
                    continue
                derive(now)
                self._leave(picture, now)

    def _leave(self, picture: Picture, now: Tick) -> None:
        boxes = picture.part(self._shard.partition.cells_of(self._shard.block))
        held = [(box, {role: self._shard.hold(role, box) for role in picture.roles}) for box in boxes]
        self._shard.meet(self.writer.patience)  # as `FieldRecording` does
        if not held:
            return
        about = {"time": now.time, **self._placed(now.time)}

        def write() -> None:
            pieces = [(box.lo[::-1], {role: take() for role, take in fields.items()}) for box, fields in held]
            write_part(self._directory, picture.name, now.step, self._shard.block, about, pieces)
            self._written[picture.name] += 1

        self._left[picture.name] += 1
        self.writer.submit(write)
