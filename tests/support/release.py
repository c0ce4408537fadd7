"""Cuts a release: `make release VERSION=0.1.0` puts the changelog together and sets the version.

It also writes the list of public names anew, so that the list holds the new ones.

It commits nothing and sends nothing: look at the diff, commit it, and push the tag that it names. A
version of development (0.2.0.dev0) is set likewise, and leaves the fragments where they are.
"""

import re
import subprocess
import sys
from collections.abc import Mapping
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
WRITTEN = re.compile(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+)?")
PLACES: Mapping[str, str] = {
    "pyproject.toml": 'version = "{}"',
    "src/truerisk/core/version.py": '__version__ = "{}"',
    "CITATION.cff": "version: {}",
    "conda/recipe.yaml": '  version: "{}"',
    "README.md": "Version {}; before 1.0 names may still change.",
}
ISSUE = re.compile(r"#(\d+)\+[\w.-]+")  # of a fragment that is one of several of its issue
RELEASED = re.compile(r"^date-released: .*\n", re.MULTILINE)


def line(words: str) -> re.Pattern[str]:
    """The line of a file that holds the version."""
    before, after = map(re.escape, words.split("{}"))
    return re.compile(rf"^{before}(?P<version>[^\"\n]+){after}$", re.MULTILINE)


def stated(root: Path) -> dict[str, str]:
    """What every place says the version is; each has one line for it."""
    said = {}
    for path, words in PLACES.items():
        found = line(words).findall((root / path).read_text("utf-8"))
        if len(found) != 1:
            sys.exit(f"{path} has {len(found)} lines like {words!r}: it should have one.")
        said[path] = found[0]
    return said


def put(root: Path, version: str, day: date) -> None:
    """Write the version into every place, and the day of a release into the citation."""
    stated(root)
    for path, words in PLACES.items():
        place = root / path
        text = line(words).sub(words.format(version), place.read_text("utf-8"))
        if path == "CITATION.cff":
            released = "" if "dev" in version else f"date-released: {day.isoformat()}\n"
            text = RELEASED.sub("", text)
            text = text.replace(f"version: {version}\n", f"version: {version}\n{released}")
        place.write_text(text, "utf-8")


def main(version: str) -> None:
    """Refuse what is no version or a tree with changes of its own; else write."""
    if not WRITTEN.fullmatch(version):
        sys.exit(f"VERSION={version!r} is no version: write one, make release VERSION=0.1.0")
    changed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    if changed.stdout:
        sys.exit("there are changes that are not committed: commit them first.")
    if "dev" not in version:
        command = [sys.executable, "-m", "towncrier", "build", "--yes", "--version", version]
        subprocess.run(command, cwd=ROOT, check=True)
        changes = ROOT / "CHANGELOG.md"
        changes.write_text(ISSUE.sub(r"#\1", changes.read_text("utf-8")), "utf-8")
        subprocess.run([sys.executable, "-m", "tests.test_public_api"], cwd=ROOT, check=True)
    put(ROOT, version, date.today())
    print(f"this is {version}: .ci/run, look at `git diff HEAD`, commit, push the tag v{version}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
