"""The order of the examples: as people come to need them, and the rest by name."""

from __future__ import annotations

from pathlib import PurePath

ORDER = (
    "honest_search",
    "optimism",
    "intervals",
    "mixed_table",
    "genes",
    "compare",
    "threshold",
    "audit",
    "permutation_test",
    "learning_curve",
)


class ByJob:
    """The key by which sphinx-gallery sorts the scripts of a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> tuple[int, str]:
        job = PurePath(name).stem.removeprefix("plot_")
        return (ORDER.index(job) if job in ORDER else len(ORDER), job)

    def __repr__(self) -> str:
        return type(self).__name__
