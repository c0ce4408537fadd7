"""What a fitted search claims, and the scores it kept."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from truerisk.api.findings.finding import Finding
from truerisk.core.errors import BadData, Refusal, said_by
from truerisk.core.identity import is_exactly
from truerisk.core.plan.builder import split_plan
from truerisk.core.plan.partitions import leave_out
from truerisk.core.plan.plan import Plan
from truerisk.core.present import clean
from truerisk.core.results import RiskCurve
from truerisk.core.table.data import Data

__all__ = ["USED_UP", "Claim"]

LEAVE_ONE_OUT = "sklearn.model_selection:LeaveOneOut"
USED_UP = (
    "cv was an iterator and the search has used it up: its splits are gone. "
    "Give cv a list of splits or a splitter, and fit again."
)


@dataclass(frozen=True, eq=False)
class Claim:
    """A fitted search as the audit needs it, whatever its class.

    `score` is the claim on the search's own scale, higher is better; `scores[c, k]` that of
    candidate c in split k (NaN where a fit failed), None where the search kept none. `estimator`
    with `candidates[c]` is candidate c; `cv` draws its splits. `exact` is False where the search
    solved along a path, so that a replay differs in the last digits. `pooled` says that the score
    is one of all held-out rows together, not a mean over splits. `errors` says that the search
    speaks of errors, not scores. `kept` is the risk curve of a search of ours.
    """

    search: str
    name: str
    score: float
    best: int
    candidates: tuple[Mapping[str, Any], ...]
    estimator: Any
    scoring: Any
    cv: Any
    scores: np.ndarray | None = None
    exact: bool = True
    pooled: bool = False
    errors: bool = False
    kept: RiskCurve | None = None
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def best_params(self) -> Mapping[str, Any]:
        return self.candidates[self.best]

    @property
    def is_one_by_one(self) -> bool:
        """Whether each row is tested alone: the smallest score of a split is then meaningless."""
        return self.pooled or is_exactly(self.cv, LEAVE_ONE_OUT)

    @property
    def means(self) -> np.ndarray | None:
        """Mean score of every candidate, NaN where a fit failed."""
        return None if self.scores is None else np.asarray(self.scores.mean(axis=1))

    def usable(self) -> Claim:
        """The claim without the settings that failed: they cannot be fitted again either."""
        if self.scores is None or np.isfinite(self.scores).all():
            return self
        chosen = np.arange(len(self.candidates)) == self.best
        kept = np.flatnonzero(np.isfinite(self.scores).all(axis=1) | chosen)
        return replace(
            self,
            candidates=tuple(self.candidates[c] for c in kept),
            scores=self.scores[kept],
            best=int(np.flatnonzero(kept == self.best)[0]),
        )

    def refuse_other_rows(self, data: Data) -> None:
        """A search of ours knows its rows; the audit may know more of them than `fit` was told."""
        if self.kept is None:
            return
        apart = replace(data, time=None, block=None)
        if self.kept.common.data_fingerprint not in (
            data.fingerprint,
            apart.fingerprint,
            replace(apart, groups=None).fingerprint,
        ):
            raise BadData(
                "X and y are not the rows that this search was fitted on (other fingerprint): "
                "give the same ones."
            )

    def splitter(self, y: Any) -> Any:
        """What draws the splits, as scikit-learn reads `cv`."""
        from sklearn.base import is_classifier
        from sklearn.model_selection import check_cv

        return check_cv(self.cv, y, classifier=is_classifier(self.estimator))

    def plan(self, data: Data) -> Plan:
        """The search's splits, drawn again; refused where they cannot be the same."""
        if self.kept is not None:
            return self.kept.evaluation.plan
        if is_exactly(self.cv, LEAVE_ONE_OUT):
            return leave_out(data.n_rows, [np.arange(data.n_rows)])
        first, second = self._splits(data), self._splits(data)
        if not first:
            raise Refusal(USED_UP)
        if not _alike(first, second):
            raise Refusal(
                f"the splits of {clean(str(self.cv), 80)} are drawn anew each time, so those of "
                "this search cannot be replayed: give it a random_state (an integer) and fit "
                "again, or use level='nested', which repeats the whole search."
            )
        return split_plan(data.n_rows, first)

    def _splits(self, data: Data) -> list[tuple[np.ndarray, np.ndarray]]:
        try:
            with warnings.catch_warnings():  # that groups are cut is a finding of its own
                warnings.filterwarnings("ignore", message="The groups parameter is ignored")
                pairs = list(self.splitter(data.y).split(data.X, data.y, data.groups))
        except Exception as error:  # a user's splitter may raise anything
            why = said_by(error)
            hint = ". Give groups= as you did to fit." if "group" in why else ""
            raise Refusal(f"the splits of the search cannot be replayed: {why}{hint}") from error
        return [(_rows(train), _rows(test)) for train, test in pairs]


def _rows(given: Any) -> np.ndarray:
    rows = np.asarray(given)
    return np.flatnonzero(rows) if rows.dtype == bool else rows


def _alike(first: list[Any], second: list[Any]) -> bool:
    return len(first) == len(second) and all(
        np.array_equal(a, b)
        for one, other in zip(first, second, strict=True)
        for a, b in zip(one, other, strict=True)
    )
