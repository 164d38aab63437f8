"""One device and two beside each other: `taskflow bench ssspnt`."""

import json

import pytest


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_two_devices_beside_one(give, here):
    words = ("--cells", 8, "--overlap", "none", "--device", "cpu", "--seconds", 0.05, "-o", "bench.json")
    result = give("bench", "ssspnt", *words)
    assert (result.exit_code, result.stderr) == (0, "")
    one, *rows = json.loads((here / "bench.json").read_text())["results"]
    assert [(row["kind"], row["cut"], row["blocks"]) for row in rows] == [
        (kind, cut, 2) for kind in ("strong", "weak") for cut in "zyx"
    ]
    assert one["efficiency"] == 1
    assert [row["cells"] for row in rows] == [[8, 8, 8]] * 3 + [[8, 8, 16], [8, 16, 8], [16, 8, 8]]
    for row in rows:
        rate = row["cells_per_second_per_block"]
        assert row["ssspnt"] == pytest.approx(1e-7 * rate)
        assert row["efficiency"] == pytest.approx(rate / one["cells_per_second_per_block"])
