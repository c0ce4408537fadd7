"""What an assessment found: a frozen value that prints, concludes, and becomes JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.api.assessing.assessment_json import apparent_risk, recorded
from truerisk.api.assessing.assessment_plots import Plots
from truerisk.api.assessing.baseline import Constant
from truerisk.api.assessing.out_of_fold import OutOfFold, calibration_of, out_of_fold, roc_of
from truerisk.api.assessing.paired_difference import Paired, paired_difference
from truerisk.api.assessing.ranking import ranked
from truerisk.api.findings.finding import Finding
from truerisk.api.road.outer_splits import OuterFold, Stability
from truerisk.api.road.problem import Problem
from truerisk.core import present
from truerisk.core.answers import Answers
from truerisk.core.contracts import Winners
from truerisk.core.present import signed
from truerisk.core.results import RiskCurve, RiskEstimate, displays, frame_of
from truerisk.core.statistics.calibration import Calibration
from truerisk.core.statistics.roc import RocCurve
from truerisk.core.writing import place_of, write_text

__all__ = ["Assessed", "Assessment", "Kept"]

HEAD = ("learner", "chosen setting", "selected", "honest", "interval", "optimism", "fits", "time")
SETTING = HEAD.index("chosen setting")
WIDEST = 100  # columns of the printed table
WIDEST_NAME = 24
NARROWEST_SETTING = 14


@dataclass(frozen=True, eq=False)
class Assessed:
    """One learner: its risk curve, the honest risk of tuning it, and how stable the tuning was.

    `claim` is what a learner of one setting says of itself: the risk behind the score by which it
    tunes inside its own fit, or a sentence on why there is none; None where the curve has several.
    """

    curve: RiskCurve
    criteria: Mapping[str, RiskCurve]
    risk: RiskEstimate
    outer: tuple[OuterFold, ...]
    stability: Stability
    n_fits: int
    seconds: float
    answers: Answers | None = field(repr=False)
    winners: Winners | None = field(repr=False)
    problem: Problem = field(repr=False)
    claim: RiskEstimate | str | None = None

    @property
    def selected(self) -> RiskEstimate | None:
        """The risk that was minimised; where None, `no_selected` says why."""
        if self.claim is None:
            return self.curve[self.curve.best]
        return None if isinstance(self.claim, str) else self.claim

    @property
    def no_selected(self) -> str | None:
        """Why it is not known which risk was minimised."""
        return self.claim if isinstance(self.claim, str) else None

    @property
    def claimed(self) -> str:
        """Where `selected` is a claim of its own, what it is; or why there is none."""
        if isinstance(self.claim, RiskEstimate):
            return present.clean(f"selected is {self.claim.method}, as {self.claim.loss} risk", 200)
        return present.clean(self.claim or "", 200)

    @cached_property
    def apparent(self) -> RiskEstimate | None:
        """The risk on the very rows of the fit, by one more fit when first asked for."""
        return apparent_risk(self.problem, self.curve.best_params)

    @cached_property
    def _out_of_fold(self) -> OutOfFold | str:
        return out_of_fold(self.problem, self.answers, self.winners)

    @property
    def out_of_fold(self) -> OutOfFold | None:
        """Probabilities (or scores) of the tested rows, by one more fit per outer split."""
        return None if isinstance(self._out_of_fold, str) else self._out_of_fold

    @cached_property
    def _roc(self) -> RocCurve | str:
        found = self._out_of_fold
        return found if isinstance(found, str) else roc_of(found, self.problem)

    @property
    def roc(self) -> RocCurve | None:
        """The ROC curve of rows without part in tuning or fit; where None, `no_roc` says why."""
        return None if isinstance(self._roc, str) else self._roc

    @property
    def no_roc(self) -> str | None:
        """Why there is no ROC curve."""
        return self._roc if isinstance(self._roc, str) else None

    @cached_property
    def calibration(self) -> Calibration | None:
        """Whether the probabilities of such rows mean what they say; None without any."""
        found = self.out_of_fold
        return None if found is None else calibration_of(found, self.problem)

    @property
    def optimism(self) -> float | None:
        """Honest minus selected risk; None where they are of two losses."""
        selected = self.selected
        if selected is None or selected.loss != self.risk.loss:
            return None
        if self.risk.value is None or selected.value is None:
            return None
        return self.risk.value - selected.value


@dataclass(frozen=True)
class Kept:
    """How many fits were found in the store, and how many were added to it."""

    found: int
    added: int


@dataclass(frozen=True, eq=False)
class Assessment(Plots):
    """Tuned learners compared on the same splits.

    `best` is the learner with the smallest honest risk. That risk is the smallest of several and
    slightly flatters; `choice` is the honest risk of choosing among the learners as well, which is
    the number to report for the whole search. `findings` are what makes the answer fragile.
    `constant` is the best answer that ignores the features, `baseline` its risk. `missing` names
    learners that an interruption left out; `order` says which comes first of equal ones. `source`,
    `command` and `column_names` say, for a report, what the data and their columns are called and
    what was typed. `kept` says what a store spared; no number depends on it.
    """

    best: str
    learners: Mapping[str, Assessed]
    choice: RiskEstimate | None
    constant: Constant | None
    tuned_by: str
    tested_by: str
    missing: tuple[str, ...]
    order: tuple[str, ...]
    problem: Problem = field(repr=False)
    conclusion: str = ""
    source: str = ""
    command: str = ""
    column_names: tuple[str, ...] = ()
    kept: Kept | None = None

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong or worth knowing of rows, columns, splits and the choice."""
        from truerisk.api.findings.on_assessments import fragile

        return fragile(self)

    @property
    def n_rows(self) -> int:
        return self.problem.data.n_rows

    @property
    def seed(self) -> int:
        return self.problem.seed

    @property
    def loss(self) -> str:
        return self.problem.loss.word

    @property
    def baseline(self) -> float | None:
        """The risk of the best constant answer, such as the commonest class."""
        return None if self.constant is None else self.constant.risk

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
    def roc(self) -> RocCurve | None:
        """The ROC curve of the best learner, of rows without part in its tuning or fit."""
        return self.learners[self.best].roc

    @property
    def calibration(self) -> Calibration | None:
        """The calibration of the best learner, of rows without part in its tuning or fit."""
        return self.learners[self.best].calibration

    @property
    def monte_carlo(self) -> dict[str, np.ndarray]:
        """Risks of the single random splits by which each tuned learner was tested.

        Empty unless `outer` is such a method ("monte-carlo").
        """
        if not self.tested_by.startswith("monte-carlo"):
            return {}
        splits = {name: risk.split_risks for name, risk in self.risks.items()}
        return {name: risks for name, risks in splits.items() if risks is not None}

    @property
    def best_params(self) -> dict[str, Any]:
        """The setting of the best learner."""
        return self.curves[self.best].best_params

    @property
    def ranking(self) -> list[str]:
        """Learners by their honest risk, the smallest first; those without one last."""
        return ranked({name: risk.value for name, risk in self.risks.items()}, self.order)

    @property
    def runner_up(self) -> str | None:
        """The learner with the second smallest honest risk."""
        others = [n for n in self.ranking if n != self.best and self.risks[n].value is not None]
        return others[0] if others else None

    def difference(self, a: str, b: str) -> Paired | None:
        """Mean of the paired per-row loss differences a − b, with its standard error.

        Weighted by `sample_weight`, clustered by `groups`. None where the loss has no per-row
        losses, and where the splits go forward in time.
        """
        first, second = self.risks[a], self.risks[b]
        if first.losses is None or second.losses is None or first.loss_rows is None:
            return None
        if first.ordered:
            return None
        return paired_difference(first.losses, second.losses, first.loss_rows, self.problem.data)

    def gain(self) -> Paired | None:
        """Risk of the constant answer minus that of the choice among all learners, paired by row.

        The choice and not its best learner: the smallest of several risks would gain by chance.
        """
        risk = self.learners[self.best].risk if self.choice is None else self.choice
        if risk.losses is None or risk.loss_rows is None or self.constant is None:
            return None
        if risk.ordered:
            return None
        if self.constant.losses is None:
            return None
        rows = risk.loss_rows
        return paired_difference(self.constant.losses[rows], risk.losses, rows, self.problem.data)

    def rows(self) -> list[list[str]]:
        """The table's cells, best learner first."""
        return [_row(name, self.learners[name]) for name in self.ranking]

    def table(self) -> Any:
        """The table as a frame (pandas, or polars where only that is installed)."""
        order = self.ranking
        chosen = [self.learners[name] for name in order]
        intervals = [one.risk.interval for one in chosen]
        return frame_of(
            {
                "learner": order,
                "setting": [present.params_text(one.curve.best_params) for one in chosen],
                "selected_risk": [one.selected and one.selected.value for one in chosen],
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
        """Plain values, under a versioned schema name.

        What is not there yet is computed: the apparent risks, by one fit per learner.
        """
        return recorded(self)

    def to_json(self, path: Any = None) -> str:
        """The assessment as JSON, also written to `path` where one is given."""
        place = None if path is None else place_of(path)
        text = json.dumps(self.to_dict(), allow_nan=False)
        if place is not None:
            write_text(text + "\n", place)
        return text

    def to_html(self, path: Any = None) -> str:
        """One HTML page that needs nothing else, also written to `path` where one is given."""
        place = None if path is None else place_of(path)
        text: str = displays.load("page")(recorded(self, rows=False))
        if place is not None:
            write_text(text, place)
        return text

    @property
    def title(self) -> str:
        """What the table is about."""
        n = len(self.learners)
        return (
            f"{present.clean(self.loss, 40)} risk (lower is better) of {n} tuned "
            f"learner{'s' if n != 1 else ''} on {self.n_rows} rows"
        )

    @property
    def legend(self) -> tuple[str, ...]:
        """What the columns mean."""
        kinds = {one.risk.interval.method for one in self.learners.values() if one.risk.interval}
        level = f"{100 * self.problem.confidence_level:g} %"
        how = f"; {level} interval: {', '.join(sorted(kinds))}" if kinds else ""
        tested = f"({self.tested_by}{how})"
        tuning = f"{self.tuned_by} on all rows, rule {self.problem.rule.word}"
        return (
            f"selected: the score that tuning maximised, as an error ({tuning})",
            f"honest: {present.honest_risk(self.tested_by)} {tested}",
            "optimism: honest − selected",
            *self._claims,
        )

    @property
    def _claims(self) -> Iterator[str]:
        """What `selected` is where it is not the least of the curve: a line for each sentence."""
        said: dict[str, list[str]] = {}
        for name, one in self.learners.items():
            if one.claimed:
                said.setdefault(one.claimed, []).append(present.clean(name, 40))
        return (f"{', '.join(names)}: {sentence}" for sentence, names in said.items())

    def __str__(self) -> str:
        table = present.text_table(HEAD, _narrowed(self.rows()))
        said = textwrap.fill(self.conclusion, WIDEST, break_long_words=False)
        warned = [textwrap.fill(str(finding), WIDEST) for finding in self.findings]
        return "\n".join(
            [self.title, "", table, "", *self.legend, "", said, *([""] if warned else []), *warned]
        )

    def _repr_html_(self) -> str:
        caption = f"{self.title}. {self.conclusion} " + "; ".join(self.legend)
        picture: str = displays.load("ladder-picture")(recorded(self, fit=False, rows=False))
        return present.html_table(caption, HEAD, self.rows()) + picture


def _narrowed(rows: list[list[str]]) -> list[list[str]]:
    """The rows with names and settings cut so that the table fits `WIDEST` columns where it can."""
    named = [[_cut(row[0], WIDEST_NAME), *row[1:]] for row in rows]
    others = [j for j in range(len(HEAD)) if j != SETTING]
    used = sum(max(len(row[j]) for row in [list(HEAD), *named]) + 2 for j in others)
    room = max(WIDEST - used, NARROWEST_SETTING)
    return [[*row[:SETTING], _cut(row[SETTING], room), *row[SETTING + 1 :]] for row in named]


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"


def _row(name: str, one: Assessed) -> list[str]:
    return [
        present.clean(name, 40),
        present.params_text(one.curve.best_params),
        present.number(None if one.selected is None else one.selected.value),
        present.number(one.risk.value),
        str(one.risk.interval or "none"),
        "–" if one.optimism is None else signed(one.optimism, one.risk.value),
        str(one.n_fits),
        present.seconds(one.seconds),
    ]
