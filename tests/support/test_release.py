"""A release is one command, which puts one version into every place that has it."""

from __future__ import annotations

import shutil
from datetime import date

import pytest
from tests.support import release

import truerisk as tr

ROOT = release.ROOT
DAY = date(2027, 1, 2)


@pytest.fixture
def copy(tmp_path):
    """The files that hold the version."""
    for path in release.PLACES:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    return tmp_path


def test_all_places_say_the_same():
    """The metadata, the package, the citation and the recipe name one version."""
    assert set(release.stated(ROOT).values()) == {tr.__version__}


@pytest.mark.parametrize("version", ["0.1.0", "1.0.0rc1", "0.2.0.dev0"])
def test_a_version_is_put_everywhere(copy, version):
    """The day stands in the citation of a release alone; twice is as once."""
    for _ in range(2):
        release.put(copy, version, DAY)
    assert set(release.stated(copy).values()) == {version}
    days = (copy / "CITATION.cff").read_text("utf-8").count("date-released: 2027-01-02\n")
    assert days == ("dev" not in version)
    for path in release.PLACES:
        before, after = (
            [
                line
                for line in (root / path).read_text("utf-8").splitlines()
                if "released" not in line
            ]
            for root in (ROOT, copy)
        )
        assert len(after) == len(before)


def test_a_place_without_its_line_is_refused(copy):
    """Nothing is written then."""
    (copy / "CITATION.cff").write_text("title: truerisk\n")
    with pytest.raises(SystemExit, match="CITATION.cff has 0 lines"):
        release.put(copy, "0.1.0", DAY)
    assert release.stated(ROOT)["pyproject.toml"] in (copy / "pyproject.toml").read_text("utf-8")


@pytest.mark.parametrize("version", ["", "1", "v0.1.0", "0.1", "0.1.0 "])
def test_what_is_no_version_is_refused(version):
    """With the command to write."""
    with pytest.raises(SystemExit, match=r"is no version: write one, make release VERSION=0\.1\.0"):
        release.main(version)


def test_an_issue_is_named_by_its_number():
    """Fragments of one issue have a word each, which is of no use in the changelog."""
    assert release.ISSUE.sub(r"#\1", "x (#22+a-word, #3, #17+b.1)") == "x (#22, #3, #17)"
