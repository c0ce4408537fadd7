"""The order of the examples: that of their groups in `examples/index.rst`."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

INDEX = Path(__file__).parents[2] / "examples" / "index.rst"
ORDER = re.findall(r"^   plot_(\w+)$", INDEX.read_text("utf-8"), re.MULTILINE)


class ByJob:
    """The key by which sphinx-gallery sorts the scripts of a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> int:
        return by_job(name)

    def __repr__(self) -> str:
        return type(self).__name__


def by_job(name: str) -> int:
    """The same key for the thumbnails of a group; an example that is in no group is refused."""
    return ORDER.index(PurePath(name).stem.removeprefix("plot_"))
