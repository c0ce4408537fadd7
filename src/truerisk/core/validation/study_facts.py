"""What data and computation tell of a study, for whoever fills in a checklist."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["CURVE", "SLOPE", "Rated", "StudyFacts", "TestedOn"]

SLOPE, CURVE = "slope", "flexible curve"  # what sentences call them

TestedOn = Literal["", "later", "below", "among", "apart", "near"]
"""What rows a model was tested on: any; later ones, or below its own in the table; with times on
both sides of its own; of places that it had not seen; next to its own."""


@dataclass(frozen=True)
class Rated:
    """A measure that has a value: its name, its part, and the word of its interval, if any."""

    name: str
    part: str = ""
    interval: str | None = None


@dataclass(frozen=True, kw_only=True)
class StudyFacts:
    """Counts of the rows and words for what was done.

    `class_counts` are the rows of each class, empty for numbers. `n_gaps` counts the cells without
    a value and `n_rows_with_gaps` their rows, None where X does not tell. `imputed` says that a
    step of the model fills gaps, so that it is fitted inside the folds; `steps` are the names of
    all steps, the learner the last. `measures` are what the performance was told by, and
    `corrected` how many bootstrap samples corrected it for optimism. `n_tested` rows were tested,
    of the classes `tested_counts`; None where all were. `n_cut` rows were tested by models that saw
    others of their group. `by_level` are the losses told of subgroups, and `shrunken` those columns
    of which they are drawn to their mean. `dependent` rows have times or places.
    """

    n_rows: int
    n_columns: int | None
    class_counts: Mapping[str, int] = field(default_factory=dict)
    n_gaps: int | None = None
    n_rows_with_gaps: int = 0
    imputed: bool = False
    selects: bool = False
    n_groups: int | None = None
    n_cut: int = 0
    dependent: bool = False
    n_tested: int | None = None
    tested_counts: Mapping[str, int] = field(default_factory=dict)
    tested_on: TestedOn = ""
    weighted: bool = False
    steps: tuple[str, ...]
    n_settings: int
    setting: str
    chosen_by: str
    tested_by: str
    response: str
    risk: str
    measures: tuple[Rated, ...] = ()
    confidence_level: float = 0.95
    subgroups: tuple[str, ...] = ()
    by_level: tuple[Rated, ...] = ()
    shrunken: tuple[str, ...] = ()
    too_small: tuple[str, ...] = ()
    corrected: int = 0
    stability: str | None = None
    seed: int = 0
    n_fits: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_rarest(self) -> int | None:
        """Rows of the rarest class, None for numbers."""
        return min(self.class_counts.values(), default=None)

    @property
    def rarest_per_column(self) -> float | None:
        """Rows of the rarest class, or all rows where y holds numbers, per column of X."""
        if not self.n_columns:
            return None
        n = self.n_rows if self.n_rarest is None else self.n_rarest
        return n / self.n_columns

    @property
    def calibrated(self) -> bool:
        """Whether calibration is among the measures."""
        return any(one.part == "calibration" for one in self.measures)

    @property
    def n_untested(self) -> int:
        """Rows that no model was tested on."""
        return 0 if self.n_tested is None else self.n_rows - self.n_tested

    @property
    def learner(self) -> str:
        """The last step."""
        return self.steps[-1]
