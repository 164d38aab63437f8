"""Damage to the files of a run: named as bad input by every command, or computed again to the bit."""

import random
import shutil

import pytest

from taskflow.output import dataset

EVERY = ["output.every={steps=20}", "checkpoint.every={steps=15}", "checkpoint.keep=9"]
RUN = ["run", "cavity.toml", "--quiet", *(word for setting in EVERY for word in ("--set", setting))]
FAULT = ("unexpected", "fault of taskflow", "Traceback")


def contents(path):
    """Whatever is in the store, and the steps of the log."""
    files = [file for file in sorted((path / "fields.zarr").rglob("*")) if file.is_file()]
    lines = (path / "log.jsonl").read_text().splitlines()
    result = {str(file.relative_to(path)): file.read_bytes() for file in files if file.parent != path / "fields.zarr"}
    return result, [line.split('"wall"')[0] for line in lines]


@pytest.fixture
def copy(run_directory, tmp_path):
    return shutil.copytree(run_directory, tmp_path / "run")


def test_a_damaged_shard(give, refused, copy):
    shard = next((copy / "fields.zarr" / "w" / "c" / "1").rglob("0"))
    while shard.is_dir():
        shard /= "0"
    shard.write_bytes(bytes(shard.stat().st_size))
    time = dataset(copy / "fields.zarr").time.values[1]
    for words in (["export", copy, "--vtk"], ["plot", copy, "--time", time]):
        result = give(*words)
        refused(result.exit_code, result.stderr, f"{shard}: ", "restore it from a copy")
    assert give("info", copy).exit_code == 0


def test_what_a_report_lacks(give, refused, copy):
    (copy / "report.json").write_text('{"ended": "end"}')
    result = give("info", copy)
    refused(result.exit_code, result.stderr, str(copy), "damaged")


@pytest.mark.slow
def test_resume_names_a_shard_and_computes_it_again(give, here):
    words = [*RUN, "--set", "time.steps=50"]
    assert give(*words).exit_code == 0
    sound = contents(here / "cavity")
    shard = next(path for path in (here / "cavity" / "fields.zarr" / "u" / "c" / "2").rglob("*") if path.is_file())
    shard.unlink()
    result = give(*words, "--resume")
    assert result.exit_code == 0, result.stderr
    left_out = [line for line in result.stderr.splitlines() if line.startswith("Warning: a checkpoint is skipped: ")]
    assert [str(shard.relative_to(here)) in line for line in left_out] == [True, True]  # of steps 50 and 45
    assert contents(here / "cavity") == sound
    assert not list((here / "cavity").rglob("*.partial"))


@pytest.mark.slow
def test_any_damage_to_any_file(give, here):
    """Nothing else than bad input, and a run that goes on has the bytes of one that nothing has disturbed."""
    assert give(*RUN, "-o", "base", "--set", "time.steps=40").exit_code == 0
    shutil.copytree("base", "whole")
    assert give(*RUN, "-o", "whole", "--resume", "--set", "time.steps=60").exit_code == 0
    whole, chance, went_on = contents(here / "whole"), random.Random(0), 0
    files = sorted(path.relative_to(here / "base") for path in (here / "base").rglob("*") if path.is_file())
    for _ in range(30):
        shutil.rmtree("run", ignore_errors=True)
        path = shutil.copytree("base", here / "run") / chance.choice(files)
        data = bytearray(path.read_bytes())
        place = chance.randrange(len(data))
        data[place] ^= 1 << chance.randrange(8)
        path.write_bytes(chance.choice([data, data, data[:place], b"", b"[]", b'{"a": 1}', bytes(len(data))]))
        for told in (["info", "run"], ["plot", "run", "-o", "a.png"], ["plot", "run", "--series", "-o", "b.png"],
                     ["export", "run", "--vtk", "-o", "vtk"]):  # fmt: skip
            result = give(*told)
            assert result.exit_code in (0, 2), (path, told, result.stderr)
            assert not any(word in result.stderr for word in FAULT)
        result = give(*RUN, "-o", "run", "--resume", "--set", "time.steps=60")
        assert result.exit_code in (0, 2), (path, result.stderr)
        assert not any(word in result.stderr for word in FAULT)
        if result.exit_code == 0:
            went_on += 1
            assert contents(here / "run") == whole, path
    assert 0 < went_on < 30
