"""A release is one command; `make wheel` types the install lines of the pages."""

import re
import shutil
from datetime import date

import pytest
from tests.support import release
from tests.support.install_lines import PAGES, PURE, install_lines, whole

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


@pytest.mark.parametrize("version", ["0.1.0", "1.0.0rc1", "0.2.0.dev0"])
def test_put_writes_a_version_everywhere(copy, version):
    """The day stands in the citation of a release alone; twice is as once."""
    assert set(release.stated(ROOT).values()) == {tr.__version__}
    for _ in range(2):
        release.put(copy, version, DAY)
    assert set(release.stated(copy).values()) == {version}
    days = (copy / "CITATION.cff").read_text("utf-8").count("date-released: 2027-01-02\n")
    assert days == ("dev" not in version)
    for path in release.PLACES:
        before, after = ((root / path).read_text("utf-8").splitlines() for root in (ROOT, copy))
        assert len([line for line in after if "released" not in line]) == len(
            [line for line in before if "released" not in line]
        )


def test_put_writes_nothing_where_a_place_lacks_its_line(copy):
    (copy / "CITATION.cff").write_text("title: truerisk\n")
    with pytest.raises(SystemExit, match="CITATION.cff has 0 lines"):
        release.put(copy, "0.1.0", DAY)
    assert release.stated(ROOT)["pyproject.toml"] in (copy / "pyproject.toml").read_text("utf-8")


@pytest.mark.parametrize("version", ["", "1", "v0.1.0", "0.1", "0.1.0 "])
def test_release_refuses_what_is_no_version(version):
    with pytest.raises(SystemExit, match=r"is no version: write one, make release VERSION=0\.1\.0"):
        release.main(version)


def test_issue_is_named_by_its_number():
    """Fragments of one issue have a word each, which is of no use in the changelog."""
    assert release.ISSUE.sub(r"#\1", "x (#22+a-word, #3, #17+b.1)") == "x (#22, #3, #17)"


def test_install_lines_are_read_from_sentences_and_from_blocks():
    """Without the comment beside them, and each once."""
    page = (
        "With `pip install '.[io]'`, or\n\n    pip install .    # in a clone\n\n`pip install .`\n"
    )
    assert install_lines(page) == ["pip install '.[io]'", "pip install ."]


@pytest.mark.parametrize("page", PAGES)
def test_install_lines_of_a_page_are_in_a_clone_and_without_a_compiler(page):
    lines = set(install_lines((ROOT / page).read_text("utf-8")))
    assert {"pip install .", f"pip install . -C {PURE}"} <= lines
    assert all(re.match(r"pip install ('\.\[|\.)", line) for line in lines)


def test_page_that_gets_started_installs_as_readme_does():
    """The page has lines of README for a clone, and `make wheel` types those."""
    started, typed = (
        install_lines((ROOT / page).read_text("utf-8"))
        for page in ("docs/getting-started.md", "README.md")
    )
    in_a_clone = [line for line in started if "git+" not in line]
    assert len(in_a_clone) == 2
    assert {*in_a_clone} <= {*typed}


def test_install_line_is_typed_with_the_one_that_installs_more():
    """A line with another setting of the build is no part of it."""
    lines = {"pip install .", "pip install '.[io]' pandas", f"pip install . -C {PURE}"}
    assert whole(lines) == ["pip install '.[io]' pandas", f"pip install . -C {PURE}"]
