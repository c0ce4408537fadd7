"""What `plan_sample` found: test rows for a width, and how tuning and testing share the rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from truerisk.core import present
from truerisk.core.interval import Interval

__all__ = ["SamplePlan", "Split"]

SCHEMA = "truerisk.sample-plan/1"
MEASURES = ("ub", "above_half", "q2", "err")


@dataclass(frozen=True)
class Split:
    """Rows shared between tuning and testing, and what is to be expected of the test.

    `error` is the error of a rule tuned and trained on `n_tuning` rows. `ub`, `above_half` and `q2`
    are Wallman's measures of the posterior after the test, `width` that of its interval, each
    expected over the number of test errors.
    """

    n_tuning: int
    n_test: int
    error: float
    width: float
    ub: float
    above_half: float
    q2: float

    @property
    def err(self) -> float:
        """The expected share of test errors."""
        return self.error


@dataclass(frozen=True)
class SamplePlan:
    """How many test rows an interval needs, and how n rows are shared.

    `n_test` rows give an interval no wider than `width` after the expected number of errors;
    `n_assured` rows with probability `assurance`, whatever errors come. `splits` compares ways to
    share `n` rows; `best` is the one with the least (ub), `best_by` the best by each measure. What
    was not asked for, or cannot be known, is None, and `notes` say why.
    """

    error: float | Mapping[int, float]
    confidence_level: float
    prior: tuple[float, float]
    width: float | None = None
    n_test: int | None = None
    n_assured: int | None = None
    assurance: float | None = None
    interval: Interval | None = None
    n: int | None = None
    best: Split | None = None
    best_by: Mapping[str, Split] = field(default_factory=dict)
    splits: tuple[Split, ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, under a versioned schema name."""
        return {"schema": SCHEMA, **present.plain(asdict(self))}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), allow_nan=False)

    def __str__(self) -> str:
        parts = [*self._of_width(), *self._of_sharing()]
        return "\n".join(parts + [f"note: {note}" for note in self.notes])

    def _of_width(self) -> list[str]:
        if self.n_test is None:
            return []
        level = f"{100 * self.confidence_level:g} %"
        return [
            (
                f"{self.n_test} test rows: at the expected errors the {level} interval is "
                f"{self.interval}, no wider than {self.width:g}"
            ),
            (
                f"{self.n_assured} test rows: no wider with probability {self.assurance:g}, "
                "whatever errors come"
            ),
        ]

    def _of_sharing(self) -> list[str]:
        if not self.splits:
            return []
        head = ["tuning", "test", "error", "width", "(ub)", "(50 %)", "(q2)", ""]
        rows = [[*_cells(split), self._marks(split)] for split in _shown(self)]
        title = f"{self.n} rows shared (measures expected over the test errors)"
        return [*([] if self.n_test is None else [""]), title, present.text_table(head, rows)]

    def _marks(self, split: Split) -> str:
        found = [name for name, best in self.best_by.items() if best == split]
        return f"<- least {', '.join(found)}" if found else ""

    def _repr_html_(self) -> str:
        head = ["tuning", "test", "error", "width", "(ub)", "(50 %)", "(q2)", ""]
        caption = "; ".join([*self._of_width(), *self.notes]) or "Sample plan"
        rows = [[*_cells(split), self._marks(split)] for split in _shown(self)]
        return present.html_table(caption, head, rows)


def _cells(split: Split) -> list[str]:
    return [
        str(split.n_tuning),
        str(split.n_test),
        *(present.number(v) for v in (split.error, split.width, split.ub)),
        f"{split.above_half:.2e}",
        present.number(split.q2),
    ]


def _shown(plan: SamplePlan) -> list[Split]:
    """About nine of the splits, and the best ones."""
    step = max(1, (len(plan.splits) - 1) // 8)
    kept = {*plan.splits[::step], plan.splits[-1], *plan.best_by.values()} if plan.splits else set()
    return [split for split in plan.splits if split in kept]
