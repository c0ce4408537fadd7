"""What an assessment found: a frozen value that prints, concludes, and becomes JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.api.compute import Problem
from truerisk.api.outer import OuterFold, Stability
from truerisk.core import present
from truerisk.core.answers import Answers
from truerisk.core.results import RiskCurve, RiskEstimate, frame_of

__all__ = ["Assessed", "Assessment"]

HEAD = ("learner", "chosen setting", "selected", "honest", "interval", "optimism", "fits", "time")


@dataclass(frozen=True, eq=False)
class Assessed:
    """One learner: its risk curve, the honest risk of tuning it, and how stable the tuning was."""

    curve: RiskCurve
    criteria: Mapping[str, RiskCurve]
    risk: RiskEstimate
    outer: tuple[OuterFold, ...]
    stability: Stability
    n_fits: int
    seconds: float
    answers: Answers | None = field(default=None, repr=False)

    @property
    def selected(self) -> RiskEstimate:
        """The risk that was minimised."""
        return self.curve[self.curve.best]

    @property
    def optimism(self) -> float | None:
        """Honest minus selected risk."""
        if self.risk.value is None or self.selected.value is None:
            return None
        return self.risk.value - self.selected.value


@dataclass(frozen=True, eq=False)
class Assessment:
    """Tuned learners compared on the same splits.

    `best` is the learner with the smallest honest risk. That risk is the smallest of several and
    slightly flatters; `choice` is the honest risk of choosing among the learners as well, which is
    the number to report for the whole search. `baseline` is the error of the commonest class.
    """

    best: str
    learners: Mapping[str, Assessed]
    choice: RiskEstimate | None
    baseline: float | None
    n_rows: int
    seed: int
    problem: Problem = field(repr=False)

    @property
    def risks(self) -> dict[str, RiskEstimate]:
        """Honest risk of every tuned learner."""
        return {name: one.risk for name, one in self.learners.items()}

    @property
    def curves(self) -> dict[str, RiskCurve]:
        """Risk curve of every learner, by the method that tuned it."""
        return {name: one.curve for name, one in self.learners.items()}

    @property
    def criteria(self) -> dict[str, Mapping[str, RiskCurve]]:
        """Risk curves by the further methods, per learner."""
        return {name: one.criteria for name, one in self.learners.items()}

    @property
    def best_params(self) -> dict[str, Any]:
        """The setting of the best learner."""
        return self.curves[self.best].best_params

    @property
    def runner_up(self) -> str | None:
        """The learner with the second smallest honest risk."""
        others = [n for n in self.learners if n != self.best and self.risks[n].value is not None]
        return min(others, key=lambda n: self.risks[n].value or 0.0, default=None)

    def difference(self, a: str, b: str) -> tuple[float, float] | None:
        """Mean of the paired per-row loss differences a − b and its standard error.

        None where the loss has no per-row losses or the rows differ.
        """
        first, second = self.risks[a].losses, self.risks[b].losses
        if first is None or second is None or len(first) != len(second) or len(first) < 2:
            return None
        paired = first - second
        return float(paired.mean()), float(paired.std(ddof=1) / np.sqrt(len(paired)))

    @property
    def conclusion(self) -> str:
        """One or two sentences on what to conclude."""
        from truerisk.api.conclusion import conclude

        return conclude(self)

    def rows(self) -> list[list[str]]:
        """The table's cells, best learner first."""
        order = sorted(self.learners, key=lambda n: _rank(self.risks[n]))
        return [_row(name, self.learners[name]) for name in order]

    def table(self) -> Any:
        """The table as a frame (pandas, or polars where only that is installed)."""
        order = sorted(self.learners, key=lambda n: _rank(self.risks[n]))
        chosen = [self.learners[name] for name in order]
        intervals = [one.risk.interval for one in chosen]
        return frame_of(
            {
                "learner": order,
                "setting": [present.params_text(one.curve.best_params) for one in chosen],
                "selected_risk": [one.selected.value for one in chosen],
                "risk": [one.risk.value for one in chosen],
                "low": [i.low if i else None for i in intervals],
                "high": [i.high if i else None for i in intervals],
                "interval": [i.method if i else None for i in intervals],
                "optimism": [one.optimism for one in chosen],
                "n_fits": [one.n_fits for one in chosen],
                "seconds": [one.seconds for one in chosen],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, under a versioned schema name."""
        return {
            "schema": "truerisk.assessment/1",
            "best": self.best,
            "best_params": present.plain(self.best_params),
            "conclusion": self.conclusion,
            "n_rows": self.n_rows,
            "seed": self.seed,
            "baseline": self.baseline,
            "choice": None if self.choice is None else self.choice.to_dict(),
            "learners": {name: _learner_dict(one) for name, one in self.learners.items()},
        }

    def to_json(self, path: Any = None) -> str:
        """The assessment as JSON, also written to `path` where one is given."""
        text = json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    def __str__(self) -> str:
        return present.text_table(HEAD, self.rows()) + "\n\n" + self.conclusion

    def _repr_html_(self) -> str:
        return present.html_table(self.conclusion, HEAD, self.rows())


def _rank(risk: RiskEstimate) -> float:
    return np.inf if risk.value is None else risk.value


def _row(name: str, one: Assessed) -> list[str]:
    return [
        present.clean(name, 40),
        present.params_text(one.curve.best_params),
        present.number(one.selected.value),
        present.number(one.risk.value),
        str(one.risk.interval or "none"),
        "–" if one.optimism is None else f"{one.optimism:+.4f}",
        str(one.n_fits),
        present.seconds(one.seconds),
    ]


def _learner_dict(one: Assessed) -> dict[str, Any]:
    return {
        "setting": present.plain(one.curve.best_params),
        "selected": one.selected.to_dict(),
        "risk": one.risk.to_dict(),
        "optimism": one.optimism,
        "stability": present.plain(one.stability),
        "outer": [present.plain(dict(fold)) for fold in one.outer],
        "curve": one.curve.to_dict(),
        "n_fits": one.n_fits,
        "seconds": one.seconds,
    }
