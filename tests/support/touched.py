"""Prints the tests of what was touched since the last commit: `make check` runs them.

A source file is tested by the file of its name and by those that carry its name on
(`test_table_refusals.py` is of `table.py`), or by all of its package's; a test file by itself.
Where nothing was touched, the files of the last commit count.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SOURCES = Path("src/truerisk")


def names(*command: str) -> list[str]:
    """The files that a git command names."""
    said = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=True)
    return [line for line in said.stdout.splitlines() if line]


def touched() -> list[Path]:
    """Files that differ from the last commit, new ones too; else those of the last commit."""
    changed = names("diff", "--name-only", "HEAD")
    changed += names("ls-files", "--others", "--exclude-standard")
    return [Path(name) for name in changed or names("diff", "--name-only", "HEAD~1", "HEAD")]


def places_of_tests(path: Path) -> Iterator[Path]:
    """Where the tests of one file are; nothing for files that no test is named after."""
    if path.parts[0] == "tests" and path.name.startswith("test_") and (ROOT / path).exists():
        yield path
    elif SOURCES in path.parents and path.suffix == ".py":
        package = Path("tests") / path.parent.relative_to(SOURCES)
        own = package / f"test_{path.name}"
        if (ROOT / own).exists():
            yield from (own, *further(own, path.parent))
        elif (ROOT / package).exists() and package != Path("tests"):
            yield package


def further(own: Path, package: Path) -> list[Path]:
    """Test files whose names begin as this one's, less those of other sources of the package."""
    others = sorted((ROOT / own.parent).glob(f"{own.stem}_*.py"))
    sources = {path.name for path in (ROOT / package).glob("*.py")}
    more = (path for path in others if path.name.removeprefix("test_") not in sources)
    return [path.relative_to(ROOT) for path in more]


def chosen(paths: list[Path]) -> list[Path]:
    """The tests of all files, none twice and none inside a folder that is chosen anyway."""
    every = sorted({test for path in paths for test in places_of_tests(path)})
    return [test for test in every if not set(test.parents) & set(every)]


if __name__ == "__main__":
    sys.stdout.write(" ".join(map(str, chosen(touched()))))
