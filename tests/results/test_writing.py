"""Files of results are written whole or not at all, and what prevents it is a sentence."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from truerisk import RocCurve
from truerisk.exceptions import NotWritten
from truerisk.extend import BadArgument, TrueRiskError
from truerisk.results.writing import write_text


def test_to_json_writes_what_it_returns_over_what_was_there(tmp_path):
    found, place = (
        RocCurve.from_scores([0, 1, 1, 0], [0.1, 0.7, 0.4, 0.3], positive=1),
        tmp_path / "a.json",
    )
    write_text("größer" * 9999, place)
    assert place.read_text(encoding="utf-8") == "größer" * 9999
    assert f"{found.to_json(place)}\n" == place.read_text()
    assert json.loads(place.read_text())["auc"] == found.auc


@pytest.mark.parametrize(
    ("path", "error", "sentence"),
    [
        ("no/such/a.html", NotWritten, "there is no folder 'no/such'; make it"),
        (".", NotWritten, ". is a folder; name"),
        ("circle", NotWritten, "cannot be written"),
        ("n" * 5000, NotWritten, "cannot be written"),
        *[(wrong, BadArgument, "name a file") for wrong in (3.5, True, ["a.html"], "")],
    ],
)
def test_write_text_refuses_a_place_that_cannot_be_written(
    tmp_path, monkeypatch, path, error, sentence
):
    """Callers may expect an OSError of a place on the disk."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(error, match=sentence) as refused:
        write_text("text", path)
    assert isinstance(refused.value, OSError) == (error is NotWritten)
    assert isinstance(refused.value, TrueRiskError)


def test_write_text_says_that_a_disk_is_full(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(NotWritten, match=r"a.txt cannot be written: No space left on device\."):
        write_text("text", tmp_path / "a.txt")


@pytest.mark.parametrize("was_there", [False, True])
def test_write_text_leaves_nothing_half_written(tmp_path: Path, was_there: bool):
    """Where writing fails in the middle, a new file is taken away and an old one stays."""
    place = tmp_path / "a.txt"
    if was_there:
        place.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_text("a" * 100_000 + "\udcff", place)
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"] * was_there
    assert not was_there or place.read_text() == "old"


def test_write_text_keeps_permissions_and_links(tmp_path: Path):
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


def test_write_text_writes_to_streams_and_pipes(tmp_path):
    """What is printed later lands behind it, and neither is replaced by a file."""
    code = "write_text('page', '/dev/stdout'); print('\\nlater')"
    command = [sys.executable, "-c", f"from truerisk.results.writing import write_text; {code}"]
    with (tmp_path / "out.txt").open("a") as out:
        subprocess.run(command, stdout=out, check=True)
    assert (tmp_path / "out.txt").read_text().split() == ["page", "later"]
    place = tmp_path / "pipe"
    os.mkfifo(place)
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(place.read_text)
        write_text("text", place)
        assert read.result(10) == "text"
    assert place.is_fifo()
