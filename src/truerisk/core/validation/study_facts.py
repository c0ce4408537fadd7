"""What data and computation tell of a study, for whoever fills in a checklist."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["StudyFacts"]


@dataclass(frozen=True, kw_only=True)
class StudyFacts:
    """Counts of the rows and words for what was done.

    `class_counts` are the rows of each class, empty for numbers. `n_gaps` counts the cells without
    a value and `n_rows_with_gaps` their rows, None where X does not tell. `imputed` says that a
    step of the model fills gaps, so that it is fitted inside the folds; `steps` are the names of
    all steps, the learner the last. `measures` are what the performance was told by, and
    `corrected` how many bootstrap samples corrected it for optimism.
    """

    n_rows: int
    n_columns: int | None
    class_counts: Mapping[str, int] = field(default_factory=dict)
    n_gaps: int | None = None
    n_rows_with_gaps: int = 0
    imputed: bool = False
    selects: bool = False
    n_groups: int | None = None
    weighted: bool = False
    steps: tuple[str, ...]
    n_settings: int
    setting: str
    chosen_by: str
    tested_by: str
    response: str
    risk: str
    measures: tuple[str, ...] = ()
    confidence_level: float = 0.95
    subgroups: tuple[str, ...] = ()
    too_small: tuple[str, ...] = ()
    corrected: int = 0
    calibrated: bool = False
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
    def learner(self) -> str:
        """The last step."""
        return self.steps[-1]
