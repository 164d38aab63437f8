"""Make the three films of the first page, docs/images/film_*.webp, with the commands of the package:

    python docs/films.py FOLDER [NAME...]

Runs and full films stay in FOLDER. What is there is not made again.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

IMAGES = Path(__file__).parent / "images"
WIDE, QUALITY, PER_SECOND = 400, 60, 12


@dataclass(frozen=True)
class Film:
    """A film of an example: what the run and the plot get, the first frame, and the part of the frames to show."""

    example: str
    run: tuple[str, ...]
    plot: tuple[str, ...]
    first: int
    part: tuple[float, float, float, float]  # left, top, right, bottom


FILMS = {
    "wake": Film(
        "cylinder", ("output.every=0.05", 'output.fields=["u","w"]', "grid.cells=[220,1,41]", "time.end=7"),
        ("--field", "u", "--cmap", "viridis", "--range", "-0.6,2.2", "--size", "1200x330"), 100,
        (0.047, 0.213, 0.395, 0.787),
    ),
    "droplet": Film(
        "droplet_splash", ("output.every=0.04", "grid.cells=[72,72,36]", "phases=[]"),
        ("--field", "f", "--cmap", "Blues", "--plane", "y", "--size", "1000x560"), 0, (0.055, 0.125, 0.895, 0.875),
    ),
    "wing": Film(
        "naca0012_shedding", ("output.every=0.2", "monitor.every.steps=10"),
        ("--window", "-0.3", "2.2", "-0.5", "0.9", "--size", "1000x560"), 20, (0.113, 0.15, 0.86, 0.817),
    ),
}  # fmt: skip


def taskflow(*words: object) -> None:
    """Run a command of the package."""
    subprocess.run([sys.executable, "-m", "taskflow", *map(str, words)], check=True)


def make(name: str, folder: Path) -> Path:
    """Run the case, draw its snapshots, and return the small film of them."""
    film, run, full = FILMS[name], folder / name, folder / f"{name}.gif"
    if not (run / "report.json").exists():
        sets = [word for change in film.run for word in ("--set", change)]
        taskflow("run", IMAGES.parents[1] / "examples" / f"{film.example}.toml", "-o", run, *sets)
    if not full.exists():
        taskflow("plot", run, "--animation", *film.plot, "-o", full)
    frames = []
    with Image.open(full) as pictures:
        wide, high = pictures.size
        box = [round(part * length) for part, length in zip(film.part, (wide, high, wide, high), strict=True)]
        for number in range(film.first, pictures.n_frames):
            pictures.seek(number)
            frame = pictures.convert("RGB").crop(tuple(box))
            size = WIDE, round(WIDE * frame.height / frame.width)
            frames.append(frame.resize(size, Image.Resampling.LANCZOS))
    path = IMAGES / f"film_{name}.webp"
    frames[0].save(
        path, save_all=True, append_images=frames[1:], duration=1000 // PER_SECOND, loop=0, quality=QUALITY
    )
    return path


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for name in sys.argv[2:] or FILMS:
        print(make(name, Path(sys.argv[1])))
