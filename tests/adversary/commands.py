"""Commands that write, each into a place of a drawn kind: a file, a link, a pipe, a full device."""

import contextlib
import io
import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import numpy as np
from tests.adversary.plain import Plain

__all__ = ["COMMANDS", "PLACES", "Command", "draw_command", "wrong"]

FOLDS = "--dataset simple --cv 2-fold --outer 2-fold"
SPEC = """replicates = 1
sizes = [20]
n_test = 50
problems = ["simple"]
learners = ["lda"]
methods = ["2-fold"]
"""
MADE = {
    "results.json": f"assess {FOLDS} --models lda --json",
    "runs.db": "study run spec.toml --store runs.db",
}
"""What a command reads, and the command that makes it."""
COMMANDS = (
    f"assess {FOLDS} --models lda --report PLACE",
    f"assess {FOLDS} --models lda --store PLACE",
    "validate --dataset simple --model lda --report PLACE",
    "report results.json -o PLACE",
    "study export --store runs.db --format csv --out PLACE",
    "study export --store runs.db --format jsonl --out PLACE",
    "study export --store runs.db --format parquet --out PLACE",
    "study run spec.toml --store PLACE",
)
PLACES: dict[str, Callable[[Path, Path], object]] = {
    "nothing": lambda place, beside: None,
    "file": lambda place, beside: place.write_text("old\n"),
    "link to a file": lambda place, beside: (beside.write_text("old\n"), place.symlink_to(beside)),
    "link to nothing": lambda place, beside: place.symlink_to(beside),
    "link to itself": lambda place, beside: place.symlink_to(place),
    "folder": lambda place, beside: place.mkdir(),
    "pipe": lambda place, beside: os.mkfifo(place),
    "link to a full device": lambda place, beside: place.symlink_to("/dev/full"),
    "link to no folder": lambda place, beside: place.symlink_to(beside / "in" / "it"),
}
"""What stands at the place, by what makes it."""


@dataclass(frozen=True)
class Command(Plain):
    """A command and the kind of its place: nothing may be wrong afterwards."""

    words: str
    place: str
    script = "import numpy as np\n\nfrom tests.adversary.commands import wrong"

    @property
    def question(self) -> str:
        return f"wrong({self.words!r}, {self.place!r})"


def draw_command(rng: np.random.Generator, number: int) -> Command:
    """Any command, any place."""
    return Command(number, str(rng.choice(COMMANDS)), str(rng.choice(list(PLACES))))


def wrong(words: str, kind: str) -> str:
    """What is wrong after the command: a place of another kind, half a file, a mute refusal."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        place, beside = folder / "place", folder / "beside"
        (folder / "spec.toml").write_text(SPEC)
        for needed, made_by in MADE.items():
            if needed in words:
                out = said(made_by, folder)[1]
                (folder / needed).touch() if out else None
                _ = (folder / needed).write_text(out) if needed.endswith("json") else None
        PLACES[kind](place, beside)
        before, names = _kind(place), {one.name for one in folder.iterdir()}
        heard = _reader(place) if kind == "pipe" else None
        code, _, err = said(words, folder)
        text = heard() if heard is not None else place.read_bytes() if place.is_file() else b""
        left = {one.name for one in folder.iterdir()} - names - {"place", "beside"}
        found = [f"code {code}, {err.strip()[-300:]}"]
        if code and (not err.strip() or not re.search("^(truerisk|Error): ", err, re.M)):
            found.append("no sentence says why")
        if code and kind in ("file", "link to a file") and text != b"old\n":
            found.append("the old file is lost")
        if code and kind == "nothing":
            found.append("refused")
        if not code and len(text) < 20:
            found.append("nothing was written")
        if _kind(place) != before and not (kind == "nothing" and not code):
            found.append(f"it was {before} and is {_kind(place)}")
        if left:
            found.append(f"left beside: {sorted(left)}")
        return "; ".join(found) if len(found) > 1 else ""


def said(words: str, folder: Path) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command whose files lie in this folder."""
    places = {"PLACE": "place"} | {name: name for name in (*MADE, "spec.toml")}
    return called([str(folder / places[w]) if w in places else w for w in words.split()])


def called(words: list[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command line."""
    from truerisk.cli.app import run

    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            run(words)
        except SystemExit as left:
            code = int(left.code or 0)
    return code, out.getvalue(), err.getvalue()


def _kind(place: Path) -> str:
    """What it is itself, and what it leads to."""
    if not os.path.lexists(place):
        return "nothing"
    mode = stat.filemode(place.lstat().st_mode)[0]
    return f"{mode}{f' to {place.readlink()}' if mode == 'l' else ''}"


def _reader(place: Path) -> Callable[[], bytes]:
    """Read a pipe meanwhile; the call ends that, whether somebody wrote or not."""
    heard: list[bytes] = []
    thread = Thread(target=lambda: heard.append(place.read_bytes()), daemon=True)
    thread.start()

    def ended() -> bytes:
        if thread.is_alive() and stat.S_ISFIFO(place.stat().st_mode):
            os.close(os.open(place, os.O_RDWR | os.O_NONBLOCK))
        thread.join(2)
        return b"".join(heard)

    return ended
