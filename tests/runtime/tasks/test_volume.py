"""How much launches do: on several regions, counted by hand."""

from taskflow.runtime.tasks import Roles, moved, record, visited
from tests.runtime.machine import levels


def test_levels_and_lines():
    """8 x 6 x 4 fine cells, 4 x 3 x 2 coarse ones, and those again on each of the 4 blocks; a plane of 8 x 6."""
    partition = levels.partition((8, 6, 4), (1, 2, 2), (True, False, False))
    launches, _ = record(levels.Levels(partition), Roles.of(tuple(partition.fields)))
    fine, coarse, plane = 8 * 6 * 4, 4 * 3 * 2, 8 * 6
    result = {launch.task.name: (visited(launch, partition), moved(launch, partition)) for launch in launches}
    assert result == {
        "red": (fine, 8 * 2 * fine),
        "restrict": (coarse, 8 * (fine + coarse)),
        "gather": (4 * coarse, 8 * 4 * 2 * coarse),
        "smooth": (4 * coarse, 8 * 4 * 2 * coarse),
        "prolong": (fine, 8 * (coarse + 2 * fine)),
        "line": (plane, 8 * (fine + plane)),
        "scale": (plane, 8 * 2 * plane),
        "spread": (fine, 8 * (plane + 2 * fine)),
    }
