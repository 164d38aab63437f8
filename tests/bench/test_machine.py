"""`taskflow bench`: tables for people, numbers for programs."""

import json

import pytest

ABOUT = {"taskflow", "git_commit", "packages", "python", "processor", "gpu", "threads", "command", "host"}


@pytest.fixture(autouse=True)
def copied(brief):
    brief()


@pytest.fixture
def measured(give, here):
    """Give a command of bench for CPUs; what it said, and the numbers it wrote."""

    def call(*words):
        result = give("bench", *words, "--device", "cpu", "-o", "bench.json")
        assert (result.exit_code, result.stderr) == (0, "")
        actual = json.loads((here / "bench.json").read_text())
        assert set(actual) >= ABOUT
        return result.stdout, actual

    return call


@pytest.mark.slow
def test_sweep(measured):
    told, result = measured(
        "sweep", "--blocks", "2x1x1", "--cells", "8x6x4", "--workers", 1, "--overlap", "full,none", "--seconds", 0.01,
        "--precision", "single",
    )  # fmt: skip
    assert "8 x 6 x 4 cells per block" in told
    rows = {(row["name"], row["workers"]): row for row in result["results"]}
    both = [(name, workers) for workers in (2, 1) for name in ("no exchange", "none", "full")]
    assert list(rows) == [("one block", 1), *both]
    for (name, workers), row in rows.items():
        assert (name if workers == 2 or name == "one block" else f"{name}, 1 process") in told
        assert row["samples"] >= 5
        assert row["blocks"] == (1 if name == "one block" else 2)
        assert row["cells_per_second_per_block"] == pytest.approx(8 * 6 * 4 / row["seconds"])
        assert row["efficiency"] == pytest.approx(result["results"][0]["seconds"] / row["seconds"])
        moved = 3 * 4 * 8 * 6 * 4 * row["blocks"]
        assert row["share_of_copy"] == pytest.approx(moved / row["seconds"] / row["copy_bandwidth"])
        assert row["host_seconds"] is None
        exchanged = name in ("none", "full")
        assert (row["messages"], row["bytes"]) == ((1, 4 * 6 * 4) if exchanged else (0, 0))
        assert ("local" in row["transports"]) == (workers == 1 and name != "one block")


@pytest.mark.slow
def test_scaling(measured, here):
    told, result = measured(
        "scaling", "--shapes", "strong,1d", "--counts", "2", "--scale", 64, "--overlap", "none", "--seconds", 0.01,
        "--picture", "scaling.svg",
    )  # fmt: skip
    assert (here / "scaling.svg").read_text().startswith("<?xml")
    rows = {(row["shape"], row["blocks"]): row for row in result["results"]}
    assert list(rows) == [("1d", 1), ("1d", 2), ("strong", 1), ("strong", 2)]
    assert [row["workers"] for row in rows.values()] == [1, 2, 1, 2]
    for (shape, count), row in rows.items():
        assert f"{count} x {'x'.join(map(str, row['cells_per_block']))}" in told
        alone = rows[shape, 1]["cells_per_second_per_block"]
        assert row["efficiency"] == pytest.approx(row["cells_per_second_per_block"] / alone)
        assert row["speedup"] == pytest.approx(row["efficiency"] * count)
    assert rows["1d", 2]["cells_per_block"] == [8, 8, 4]
    assert rows["strong", 2]["cells_per_block"] == [16, 1, 8]
    speedup = rows["strong", 1]["seconds"] / rows["strong", 2]["seconds"]
    assert rows["strong", 2]["speedup"] == pytest.approx(speedup)


@pytest.mark.parametrize(("words", "said"), [
    (["sweep", "--cells", "8x8"], ["--cells 8x8: give three numbers along x, y and z, such as 64x64x32"]),
    (["sweep", "--cells", "8x8x0"], ["--cells 8x8x0: give three numbers"]),
    (["sweep", "--cells", "8x8x8", "--scale", "2"], ["--scale: not used with --cells; omit it"]),
    (["sweep", "--blocks", "two"], ["--blocks two: give a number of slabs along z"]),
    (["sweep", "--blocks", "0"], ["--blocks 0: give a number of slabs along z"]),
    (["sweep", "--overlap", "some"], ["--overlap some: give one or more of none, comm, full, auto"]),
    (["sweep", "--blocks", "2", "--scale", "3", "--workers", "1"], ["--scale 3: does not divide the 512 x 512 x 256"]),
    (["sweep", "--cells", "9000x9000x9000"], ["9000 x 9000 x 9000 cells per block: needs", "use fewer cells"]),
    (["sweep", "-o", "nowhere/a.json"], ["nowhere/a.json", "is not a directory", "choose another file"]),
    (["scaling", "--counts", "1,b"], ["--counts 1,b: give numbers of blocks, such as 1,2,4"]),
    (["scaling", "--shapes", "4d"], ["--shapes 4d: give one or more of 1d, 2d, 3d, strong"]),
    (["scaling", "--picture", "nowhere/a.svg"], ["nowhere/a.svg", "is not a directory"]),
    (["scaling", "--picture", "a.doc"], ["a.doc", "cannot draw this format"]),
    (["scaling", "--counts", "3", "--shapes", "3d", "--workers", "1"], ["3 blocks: shape 3d is known for 1, 2, 4"]),
])  # fmt: skip
def test_what_cannot_be_measured_is_refused(give, refused, here, words, said):
    result = give("bench", *words, "--device", "cpu")
    refused(result.exit_code, result.stderr, *said)
    assert result.stdout == ""
    assert [path.name for path in here.iterdir()] == ["cavity.toml"]


def test_a_gpu_that_is_not_there(give, refused, here, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    for command in ("sweep", "scaling"):
        result = give("bench", command, "--device", "gpu")
        refused(result.exit_code, result.stderr, "no usable GPU")


@pytest.mark.gpu
def test_a_sweep_on_a_gpu(give, here):
    words = ["sweep", "--cells", "64x64x64", "--seconds", 0.1, "--device", "gpu", "-o", "bench.json"]
    result = give("bench", *words)
    assert (result.exit_code, result.stderr) == (0, "")
    actual = json.loads((here / "bench.json").read_text())
    assert actual["gpu"] in result.stdout
    [row] = actual["results"]
    assert 0 < row["host_seconds"] < 1e-3
    assert row["calls"] < 0.1 < 1 <= row["operations"]


@pytest.mark.multigpu
def test_blocks_on_gpus_in_a_process_each_and_in_one(give, here):
    words = ["--blocks", 2, "--cells", "64x64x64", "--overlap", "none,full", "--seconds", 0.1, "--workers", 1]
    result = give("bench", "sweep", *words, "--device", "gpu", "-o", "bench.json")
    assert (result.exit_code, result.stderr) == (0, "")
    rows = json.loads((here / "bench.json").read_text())["results"]
    both = [(name, workers) for workers in (2, 1) for name in ("no exchange", "none", "full")]
    assert [(row["name"], row["workers"]) for row in rows] == [("one block", 1), *both]
    assert all(row["messages"] == 1 for row in rows if row["name"] in ("none", "full"))
