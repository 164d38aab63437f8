"""The benchmarks of artificial compressibility measure what they say."""

import pytest


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_steps_on_one_device(measured):
    _, found = measured("residual", "--cells", 16)
    rows = found["results"]
    assert [row["blocks"] for row in rows] == [1] * 5
    assert rows[2]["bytes_per_cell"] > rows[1]["bytes_per_cell"] > rows[0]["bytes_per_cell"] > 80
    assert all(row["share_of_copy"] == pytest.approx(row["bytes_per_second"] / row["copy_bandwidth"]) for row in rows)


@pytest.mark.timeout(300)
def test_two_devices_beside_one(measured):
    _, found = measured("ssspnt", "--cells", 8, "--overlap", "none")
    one, *rows = found["results"]
    assert [(row["kind"], row["cut"], row["blocks"]) for row in rows] == [
        (kind, cut, 2) for kind in ("strong", "weak") for cut in "zyx"
    ]
    assert one["efficiency"] == 1
    assert [row["cells"] for row in rows] == [[8, 8, 8]] * 3 + [[8, 8, 16], [8, 16, 8], [16, 8, 8]]
    for row in rows:
        rate = row["cells_per_second_per_block"]
        assert row["ssspnt"] == pytest.approx(1e-7 * rate)
        assert row["efficiency"] == pytest.approx(rate / one["cells_per_second_per_block"])
