"""Text files of results: a place is checked before the work, and a failure is a sentence."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeVar

from truerisk.core.arguments import path_of, shown
from truerisk.core.errors import Brief, NotWritten, said_by, xml_text

if TYPE_CHECKING:
    from truerisk.core.present import Block


T = TypeVar("T")


class Shown(Brief):
    """A result that shows itself: a notebook has its blocks, or what it prints, and its picture."""

    def blocks(self) -> Sequence[Block]:
        """The tables that a notebook and a page show of it."""
        return ()

    def plot(self, ax: Any = None) -> Any:
        """Draw its figure on the axes `ax` or new ones (needs matplotlib), and return the axes."""
        from truerisk.results.door import (
            load_from_above,  # late: the command line helps without numpy
        )

        return load_from_above("picture")(self, ax=ax)

    def _repr_html_(self) -> str:
        from truerisk.results.door import load_from_above

        tables = "".join(block.html for block in self.blocks())
        picture: str = load_from_above("notebook-picture")(self)
        return xml_text(tables or f"<pre>{html.escape(str(self))}</pre>") + picture


class Written(Shown):
    """A dataclass that can be written down: `to_dict` is what a file of it holds."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, under a versioned schema name."""
        from truerisk.core.present import plain  # late: the command line helps without numpy

        content: dict[str, Any] = plain(self)
        return content

    def to_json(self, path: Any = None) -> str:
        """One JSON document, also written to `path` where one is given."""
        return also_written(path, lambda: json.dumps(self.to_dict(), allow_nan=False))

    def to_html(self, path: Any = None) -> str:
        """One HTML page that needs nothing else, also written to `path` where one is given."""
        from truerisk.results.door import load_from_above

        return also_written(path, lambda: str(load_from_above("page")(self)))

    def save_figures(
        self, folder: Any, formats: Iterable[str] = ("svg", "png", "pdf")
    ) -> tuple[Path, ...]:
        """Write the figures of its page, and say where; PNG (300 dpi) and PDF need matplotlib."""
        from truerisk.results.door import load_from_above

        return tuple(load_from_above("files")(self, folder, formats))

    def to_metrics(self) -> dict[str, float]:
        """Its numbers by name, for a tracker: `mlflow.log_metrics(result.to_metrics())`.

        A risk or score stands under its name as people state it (`auc`), the ends of its interval
        beside it (`auc.low`, `auc.high`), what belongs to one learner behind its name (`knn/auc`).
        What is not known is left out, and a letter that MLflow does not take becomes "_".
        """
        from truerisk.core.present import metrics_of

        return metrics_of(self._metrics())

    def _metrics(self) -> Mapping[str, Any]:
        """The numbers of `to_metrics`, None where one is not known."""
        return self.to_dict()


def place_of(path: Any, like: str = "report.html") -> Path:
    """The path of a file that can be written, as far as that shows before it is tried."""
    place = path_of("path", path, like)
    try:
        is_folder = place.is_dir()
        place.resolve()
    except (OSError, RuntimeError) as error:  # an endless name, or links in a circle
        raise NotWritten(f"{shown(str(place))} cannot be written: {said_by(error)}.") from None
    if is_folder:
        raise NotWritten(f"{place} is a folder; name a file in it, such as {like}.")
    folder = place.absolute().parent
    if not folder.is_dir():
        raise NotWritten(
            f"{place} cannot be written: there is no folder '{place.parent}'; make it, or name "
            "another place."
        )
    if not os.access(place if place.exists() else folder, os.W_OK):
        raise NotWritten(f"{place} cannot be written: permission denied; name another place.")
    return place


def also_written(path: Any, make: Callable[[], str]) -> str:
    """What `make` makes, also written to `path` where one is given, which is checked before."""
    place = None if path is None else place_of(path)
    text = make()
    if place is not None:
        write_text(text if text.endswith("\n") else f"{text}\n", place)
    return text


def write_text(text: str, path: Any) -> None:
    """Write a whole file; where that fails, what was there stays, and the reason is said."""
    write_file(path, lambda place: place.write_text(text, encoding="utf-8"))


def write_file(path: Any, write: Callable[[Path], T]) -> T:
    """The same of what `write` puts into the file that it is shown; what it gives is given on.

    A file is written beside and moved into place, where a link leads if it is one. A pipe, a device
    or an open stream stays what it is, and is written into.
    """
    place = place_of(path)
    try:
        return _swap(place.resolve(), write) if _can_be_swapped(place) else write(place)
    except OSError as error:
        raise NotWritten(f"{place} cannot be written: {error.strerror or error}.") from error


def _can_be_swapped(place: Path) -> bool:
    """Not a pipe, a device or an open stream, nor a file in a folder that takes no other."""
    if place.absolute().parts[1:2] in (("dev",), ("proc",)):
        return False  # /dev/stdout may lead to a file that is being written
    folder = place.resolve().parent
    return (place.is_file() or not place.exists()) and os.access(folder, os.W_OK)


def _swap(place: Path, write: Callable[[Path], T]) -> T:
    """Written beside and moved over the old file, which keeps its permissions."""
    beside = place.with_name(f".truerisk-{os.getpid()}-{token_hex(4)}.part")
    try:
        written = write(beside)
        if place.exists():
            beside.chmod(place.stat().st_mode & 0o7777)
        beside.replace(place)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return written
