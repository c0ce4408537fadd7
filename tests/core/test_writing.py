"""Files of results are written whole or not at all, and what prevents it is a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from truerisk.core.errors import BadArgument, NotWritten, TrueRiskError
from truerisk.core.writing import place_of, write_text


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


@pytest.mark.parametrize("path", [3.5, True, ["a.html"], ""])
def test_what_is_no_path_is_refused(path) -> None:
    """Numbers, lists and empty text name no file."""
    with pytest.raises(BadArgument, match="name a file"):
        place_of(path)


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    """Where writing fails in the middle, a new file is taken away again."""
    with pytest.raises(UnicodeEncodeError):
        write_text("a" * 100_000 + "\udcff", tmp_path / "a.txt")
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_a_sentence(tmp_path, monkeypatch) -> None:
    """What the system says when it cannot write is passed on."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(NotWritten, match=r"a.txt cannot be written: No space left on device\."):
        write_text("text", tmp_path / "a.txt")
