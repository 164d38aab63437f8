"""Recipes of packages and images need what pyproject.toml needs, and run what the package has."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
CONDA = {"dask": "dask-core", "matplotlib": "matplotlib-base"}  # where conda's name is another


def test_the_conda_recipe_has_the_requirements_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    recipe = yaml.safe_load((DEPLOY / "conda" / "recipe" / "recipe.yaml").read_text())
    needed = [re.fullmatch(r"([\w-]+)(>=.+)", line).groups() for line in project["dependencies"]]
    expected = [f"{CONDA.get(name, name)} {bound}" for name, bound in needed]
    python = f"python {project['requires-python']}"
    assert recipe["requirements"]["run"] == [python, *expected, "cxx-compiler"]
    assert python in recipe["requirements"]["host"]


def test_images_install_the_same():
    for words in ("debian:trixie-slim", "g++ python3 python3-venv", "python3 -m venv /opt/taskflow"):
        assert all(words in (DEPLOY / name).read_text() for name in ("Dockerfile", "apptainer.def")), words
