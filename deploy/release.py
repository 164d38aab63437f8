"""Print whether the archives of a folder are a release, whose version the changelog and the citation have:

    python deploy/release.py DIST

A version of a commit without a tag is a dry run. Ends with code 2 if a release lacks an entry.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def version_of(dist: Path) -> str:
    """Return the one version of the wheel and the source archive. Raises ValueError if there is not one of each."""
    names = sorted(path.name for path in dist.iterdir())
    found = [re.match(r"taskflow_cfd-([^-]+?)(?:-py3-none-any\.whl|\.tar\.gz)$", name) for name in names]
    versions = {match[1] for match in found if match}
    if len(names) != 2 or None in found or len(versions) != 1:
        raise ValueError(f"{dist} has {', '.join(names) or 'no files'}: build one wheel and its source archive there")
    return versions.pop()


def missing(version: str, root: Path) -> list[str]:
    """Return what a release of this version lacks, one line each."""
    problems = []
    if not re.search(rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d$", (root / "CHANGELOG.md").read_text(), re.M):
        problems.append(f"CHANGELOG.md has no section '## {version} - YYYY-MM-DD': rename 'Unreleased'")
    cited = re.findall(r"^version: (\S+)$", (root / "CITATION.cff").read_text(), re.M)
    if cited != [version]:
        problems.append(f"CITATION.cff has the version {', '.join(cited) or 'none'}: write version: {version}")
    return problems


def main(dist: str, root: Path = ROOT) -> int:
    """Check the archives in `dist`, and return the exit code."""
    try:
        version = version_of(Path(dist))
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    if ".dev" in version or "+" in version:
        print(f"{version} is no release, which has a tag such as v0.1.0: this was a dry run")
        return 0
    problems = missing(version, root)
    print("\n".join(problems) or f"{version} may be released", file=sys.stderr if problems else sys.stdout)
    return 2 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 2 else __doc__)
