"""Files of results are written whole or not at all, and what prevents it is a sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from truerisk.core.errors import BadArgument, NotWritten, TrueRiskError
from truerisk.results.roc import RocCurve
from truerisk.results.writing import place_of, write_text


def test_text_is_written(tmp_path: Path) -> None:
    """UTF-8, over what was there."""
    for text in ("first", "größer"):
        write_text(text, tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "größer"


@pytest.mark.parametrize(
    ("path", "sentence"),
    [("no/such/a.html", "there is no folder 'no/such'; make it"), (".", ". is a folder; name")],
)
def test_a_place_that_cannot_be_written_is_refused(tmp_path, monkeypatch, path, sentence) -> None:
    """A missing folder and a folder are told apart; callers may expect an OSError."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotWritten, match=sentence) as refused:
        write_text("text", path)
    assert isinstance(refused.value, OSError)
    assert isinstance(refused.value, TrueRiskError)


@pytest.mark.parametrize("path", ["circle", "n" * 5000])
def test_a_place_that_the_system_does_not_take(tmp_path, monkeypatch, path) -> None:
    """Links in a circle and endless names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(NotWritten, match="cannot be written"):
        write_text("text", path)


@pytest.mark.parametrize("path", [3.5, True, ["a.html"], ""])
def test_what_is_no_path_is_refused(path) -> None:
    """Numbers, lists and empty text name no file."""
    with pytest.raises(BadArgument, match="name a file"):
        place_of(path)


@pytest.mark.parametrize("was_there", [False, True])
def test_nothing_half_written_is_left(tmp_path: Path, was_there: bool) -> None:
    """Where writing fails in the middle, a new file is taken away and an old one stays."""
    place = tmp_path / "a.txt"
    if was_there:
        place.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_text("a" * 100_000 + "\udcff", place)
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"] * was_there
    assert not was_there or place.read_text() == "old"


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    """A file that others may read stays one, and a link leads where it led."""
    place, link = tmp_path / "a.txt", tmp_path / "latest.txt"
    place.write_text("old")
    place.chmod(0o640)
    link.symlink_to(place)
    write_text("new", link)
    assert link.is_symlink()
    assert (place.read_text(), place.stat().st_mode & 0o777) == ("new", 0o640)
    write_text("first", tmp_path / "b.txt")
    (tmp_path / "c.txt").touch()
    modes = [(tmp_path / name).stat().st_mode for name in ("b.txt", "c.txt")]
    assert modes[0] == modes[1]


def test_a_stream_that_leads_to_a_file_is_written_to(tmp_path: Path) -> None:
    """What is printed later lands behind it, in the same file."""
    code = (
        "from truerisk.results.writing import write_text\n"
        "write_text('page', '/dev/stdout')\n"
        "print('\\nlater')"
    )
    with (tmp_path / "out.txt").open("a") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out.txt").read_text().split() == ["page", "later"]


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    """It is not replaced by a file."""
    place = tmp_path / "pipe"
    os.mkfifo(place)
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(place.read_text)
        write_text("text", place)
        assert read.result(10) == "text"
    assert place.is_fifo()


def test_a_full_disk_is_a_sentence(tmp_path, monkeypatch) -> None:
    """What the system says when it cannot write is passed on."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(NotWritten, match=r"a.txt cannot be written: No space left on device\."):
        write_text("text", tmp_path / "a.txt")


def test_every_result_writes_its_json(tmp_path) -> None:
    """`to_json(path)` writes what it answers, with a line end."""
    found, place = RocCurve.of([0, 1, 1, 0], [0.1, 0.7, 0.4, 0.3]), tmp_path / "a.json"
    assert f"{found.to_json(place)}\n" == place.read_text()
    assert json.loads(place.read_text())["auc"] == found.auc
    with pytest.raises(NotWritten, match="no folder"):
        found.to_json(tmp_path / "none" / "a.json")
