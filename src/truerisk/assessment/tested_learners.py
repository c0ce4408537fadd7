"""Tuned learners compared on the same splits: every number that an assessment has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from truerisk.assessment.constant_risk import Constant
from truerisk.assessment.door import load_part
from truerisk.assessment.families import ranked
from truerisk.assessment.tuned_learner import TunedLearner
from truerisk.contracts import Fits
from truerisk.core import present
from truerisk.core.arguments import check_level
from truerisk.core.branches import is_present
from truerisk.core.errors import Refusal, UnknownName
from truerisk.core.identity import is_a
from truerisk.core.registry import check_known
from truerisk.data.data import TaskWord
from truerisk.estimation.problem import Problem
from truerisk.estimation.run import PairedAnswers
from truerisk.losses.loss import AUC, AVERAGE_PRECISION
from truerisk.methods.parts.procedure import Procedure
from truerisk.plan.answers import joined
from truerisk.results.door import load_from_above
from truerisk.results.door import load_part as load_part_of_results
from truerisk.results.evaluation import FOLDS, PairedLosses
from truerisk.results.interval import ROPE, Scale
from truerisk.results.records import UNWRITTEN, Count, Record, Share
from truerisk.results.results import RiskCurve, RiskEstimate, check_asked, of_score
from truerisk.search.as_given import Paired, paired_difference

if TYPE_CHECKING:
    from truerisk.assessment.differences import Beside
    from truerisk.results.calibration import Calibration
    from truerisk.results.comparison import Comparison
    from truerisk.results.learning_curve import LearningCurve
    from truerisk.results.roc import RocCurve
    from truerisk.validation.validation import Validation

MOST_NAMES = 10_000  # names of columns that are kept; the fingerprint covers all


@dataclass(frozen=True, eq=False)
class TestedLearners(Record):
    """Tuned learners compared on the same splits.

    `best` is the learner with the best honest risk. That risk is the best of several and slightly
    flatters; `choice` is the honest risk of choosing among the learners as well, which is the
    number to report for the whole search. `baseline` is the risk of the best constant answer, such
    as the commonest class. Numbers are on the scale that was asked for. `missing` names learners
    that an interruption left out. `source`, `command` and `column_names` say, for a report, what
    the data and their columns are called and what was typed, `given` which further arguments were.
    `validation` is that of the best learner; where one was asked for and is None, `no_validation`
    says why. What follows is not written: `order` says which comes first of equal learners,
    `testing` is the method that tested them, and `kept` says what a store spared, and `checked`
    that rows and columns are looked through; no number depends on them.
    """

    schema: ClassVar[str] = "truerisk.assessment/2"
    derived: ClassVar[Mapping[str, str]] = {
        "best_params": "best_params",
        "posterior": "posterior",
    }
    stored: ClassVar[Mapping[str, str]] = {
        "columns": "columns",
        "differences": "differences",
        "best_set": "usual_best_set",
        "roc": "roc",
        "ranks": "named_ranks",
        "no_roc": "no_roc",
        "calibration": "calibration",
        "monte_carlo": "monte_carlo",
    }

    _types_elsewhere: ClassVar[Mapping[str, str]] = {
        "Beside": "truerisk.assessment.differences:Beside",
        "Calibration": "truerisk.results.calibration:Calibration",
        "RocCurve": "truerisk.results.roc:RocCurve",
        "Validation": "truerisk.validation.validation:Validation",
    }

    learners: Mapping[str, TunedLearner]
    best: str
    conclusion: str
    scoring: str
    task: TaskWord
    tuned_by: str
    tested_by: str
    rule: str
    interval: str | None
    confidence_level: Share
    n_rows: Count
    classes: tuple[str, ...]
    seed: Count
    source: str
    command: str
    baseline: float | None
    baseline_rule: str | None
    missing: tuple[str, ...] = field(metadata={"key": "not_assessed"})
    choice: RiskEstimate | None
    positive: Any = None
    class_sizes: tuple[Count, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict, repr=False)
    validation: Validation | None = field(default=None, repr=False)
    no_validation: str | None = None
    order: tuple[str, ...] = field(default=(), metadata=UNWRITTEN)
    problem: Problem | None = field(default=None, repr=False, metadata=UNWRITTEN)
    testing: Procedure | None = field(default=None, repr=False, metadata=UNWRITTEN)
    constant: Constant | None = field(default=None, repr=False, metadata=UNWRITTEN)
    column_names: tuple[str, ...] = field(default=(), metadata=UNWRITTEN)
    kept: Fits | None = field(default=None, metadata=UNWRITTEN)
    checked: bool = field(default=True, metadata=UNWRITTEN)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, under a versioned schema name; `docs/json.md` says what each is."""
        content = super().to_dict()
        learners = content.pop("learners")
        return {**content, "learners": {name: learners[name] for name in self.ranking}}

    @property
    def flaw(self) -> tuple[str, str] | None:
        """What makes it none, where it was read from a file."""
        return None if self.best in self.learners else ("best", "one of the learners")

    @property
    def best_learner(self) -> TunedLearner:
        return self.learners[self.best]

    @property
    def report(self) -> RiskEstimate:
        """The risk to report: of choosing among all learners, where there are several."""
        return self.best_learner.risk if self.choice is None else self.choice

    @property
    def scale(self) -> Scale:
        """The scale of its numbers: a loss, or the score that was asked for."""
        return self.best_learner.risk.scale

    @property
    def selected_scale(self) -> Scale:
        """The scale of what tuned the best learner: a criterion has a loss of its own."""
        selected = self.best_learner.selected
        return self.scale if selected is None else selected.scale

    @property
    def named_scoring(self) -> str:
        """The loss, with the class that it speaks of."""
        return self.best_learner.risk.named_scoring

    @property
    def tuned(self) -> bool:
        """Whether any of the learners was tuned."""
        return any(learner.tuned for learner in self.learners.values())

    @cached_property
    def columns(self) -> Sequence[str]:
        """Names of the columns, where the table has names."""
        names = self.column_names
        if not names and self.problem is not None:
            names = getattr(self.problem.data.X, "columns", ())
        return [str(name) for name in list(names)[:MOST_NAMES]]

    @property
    def risks(self) -> dict[str, RiskEstimate]:
        """Honest risk of every tuned learner."""
        return {name: learner.risk for name, learner in self.learners.items()}

    @property
    def curves(self) -> dict[str, RiskCurve]:
        """Risk curve of every learner, by the method that tuned it."""
        return {name: learner.curve for name, learner in self.learners.items()}

    @property
    def criteria(self) -> dict[str, Mapping[str, RiskCurve]]:
        """Risk curves by the further methods, per learner."""
        return {name: learner.criteria for name, learner in self.learners.items()}

    @property
    def learning_curves(self) -> dict[str, LearningCurve]:
        """Learning curves of the learners that have one (see `learning_curve=`)."""
        curves = {name: learner.learning_curve for name, learner in self.learners.items()}
        return {name: curve for name, curve in curves.items() if curve is not None}

    @cached_property
    def roc(self) -> RocCurve | None:
        """The ROC curve of the best learner, of rows without part in its tuning or fit."""
        return self.best_learner.roc

    @cached_property
    def no_roc(self) -> str | None:
        """Why it has none."""
        return self.best_learner.no_roc

    @cached_property
    def calibration(self) -> Calibration | None:
        """The calibration of the best learner, of rows without part in its tuning or fit."""
        return self.best_learner.calibration

    @property
    def validated(self) -> Validation | str | None:
        """The validation, or why there is none; None where none was asked for."""
        return self.validation or self.no_validation

    @cached_property
    def monte_carlo(self) -> Mapping[str, np.ndarray]:
        """Losses of the single random splits by which each tuned learner was tested.

        Empty unless `outer` is such a method ("monte-carlo").
        """
        if not self.tested_by.startswith("monte-carlo"):
            return {}
        splits = {name: risk.split_risks for name, risk in self.risks.items()}
        return {name: risks for name, risks in splits.items() if risks is not None}

    @cached_property
    def differences(self) -> Sequence[Beside]:
        """Paired differences of the risks, each learner minus the best one."""
        if len(self.learners) < 2:
            return []
        differences: Sequence[Beside] = load_part("differences")(self)
        return differences

    @property
    def posterior(self) -> dict[str, Any] | None:
        """Errors and tested rows behind the posterior of the error; None where it has none."""
        try:
            posterior = load_part("posterior").of_estimate(self.best_learner.risk)
        except Refusal:
            return None
        return {"errors": posterior.errors, "n": posterior.n, "of": posterior.of}

    @property
    def best_params(self) -> dict[str, Any]:
        """The setting of the best learner."""
        return self.curves[self.best].best_params

    @property
    def ranking(self) -> list[str]:
        """Learners by their honest risk, the best first; those without one last."""
        order = self.order or tuple(self.learners)
        return ranked({name: risk.loss_value for name, risk in self.risks.items()}, order)

    @property
    def ranked_learners(self) -> dict[str, TunedLearner]:
        """The learners in the order of `ranking`."""
        return {name: self.learners[name] for name in self.ranking}

    def told_scores(self) -> Iterator[tuple[str, str, RiskEstimate | None, RiskEstimate]]:
        """Of every score the name, a learner, and its selected and honest estimate.

        The loss comes first where it is a score; in each the best learners stand first, and the
        choice among all of them last.
        """
        if self.scale.perfect is not None:
            for learner in self.ranking:
                tuned = self.learners[learner]
                yield (
                    self.named_scoring,
                    learner,
                    tuned.selected if tuned.tuned else None,
                    tuned.risk,
                )
            if self.choice is not None:
                yield self.named_scoring, present.WHOLE_SEARCH, None, self.choice
        for name in dict.fromkeys(name for risk in self.risks.values() for name in risk.scores):
            for learner in self.ranking:
                tuned = self.learners[learner]
                tuning = tuned.selected.scores if tuned.selected and not tuned.claimed else {}
                if name in tuned.risk.scores:
                    honest = tuned.risk.scores[name]
                    yield honest.named_scoring, learner, tuning.get(name), honest
            if self.choice is not None and name in self.choice.scores:
                whole = self.choice.scores[name]
                yield whole.named_scoring, present.WHOLE_SEARCH, None, whole

    @property
    def ranks(self) -> dict[str, str]:
        """By which names the AUC and the average precision were asked for, where they were."""
        if self.problem is None:
            return {}
        losses = {name: score.loss for name, score in self.problem.scores.items()}
        kinds = {"auc": AUC, "average-precision": AVERAGE_PRECISION}
        return {
            word: name
            for name, loss in {**losses, self.scoring: self.problem.loss}.items()
            for word, kind in kinds.items()
            if is_a(loss, kind)
        }

    @cached_property
    def named_ranks(self) -> Mapping[str, str]:
        """The same scores by their words, each with the class that it speaks of."""
        risk = self.best_learner.risk
        return {word: of_score(risk, name).named_scoring for word, name in self.ranks.items()}

    def of_ranks(self, word: str, learner: str = "") -> RiskEstimate | None:
        """The honest "auc" or "average-precision" of a learner, by default the best one."""
        name, honest = self.named_ranks.get(word), self.risks[learner or self.best]
        risks = [honest, *honest.scores.values()]
        return next((risk for risk in risks if risk.named_scoring == name), None)

    @property
    def runner_up(self) -> str | None:
        """The learner with the second best honest risk."""
        others = [n for n in self.ranking if n != self.best and self.risks[n].value is not None]
        return others[0] if others else None

    def best_set(self, level: float = 0.95, *, score: str | None = None) -> list[str]:
        """The learners that may be the best: the best one is among them with probability `level`.

        By their honest losses on the same rows, or by one of the further scores, without a further
        fit (`results/best_set.py`). In the order of the ranking.
        """
        check_level("level", level)
        names = [name for name in self.ranking if self.risks[name].value is not None]
        paired, behind = self._paired(names, score)
        if len(names) < 2:
            return names
        kept = load_part_of_results("best-set")(paired, level).tolist()
        return [
            name
            for name, may_be in zip(names, kept, strict=True)
            if may_be or name not in behind or not behind[name].shows_worse(level)
        ]

    @cached_property
    def usual_best_set(self) -> Sequence[str] | None:
        """`best_set` at the level of the intervals; None where it is refused.

        None as well where several learners cannot be compared, as `truerisk.comparison` is missing.
        """
        if len(self.learners) > 1 and not is_present("truerisk.comparison.paired"):
            return None
        try:
            return self.best_set(self.confidence_level)
        except Refusal:
            return None

    def _paired(
        self, names: Sequence[str], score: str | None
    ) -> tuple[PairedLosses, dict[str, Comparison]]:
        """Return the losses of these learners, and the difference of each from the best of them.

        The set and the differences that are shown beside it enlarge variances by one factor.
        """
        paired = self._comparable(names, score).losses()
        values = {name: of_score(self.risks[name], score).loss_value for name in names}
        best = min(names, key=lambda name: values[name] or 0.0)
        behind = {name: self.difference(name, best, score=score) for name in names if name != best}
        factors = [
            behind[name].details.get("factor", FOLDS) if name in behind else FOLDS for name in names
        ]
        return replace(paired, factors=np.array(factors, dtype=float)), behind

    def _comparable(self, names: Sequence[str], score: str | None) -> PairedAnswers:
        """The answers of these learners to the questions of the outer splits."""
        parts = [answers for n in names if (answers := self.learners[n].answers) is not None]
        if self.problem is None or self.testing is None or not parts or len(parts) < len(names):
            raise Refusal("no learner has answers of rows that were held out: nothing compares.")
        whole, loss = joined(parts), self.problem.loss
        if score is not None and score != self.scoring:
            score_names = list(self.problem.scores)
            check_asked(score, [self.scoring, *score_names])
            whole, loss = whole.also[score_names.index(score)], self.problem.scores[score].loss
        testing = self.testing.outer_method
        return PairedAnswers(replace(whole, also=()), self.problem.data, loss, testing)

    def difference(
        self,
        a: str,
        b: str,
        *,
        score: str | None = None,
        rope: float = ROPE,
    ) -> Comparison:
        """Learner a minus b, paired and on the scale that was asked for.

        Of losses negative favours a, of scores positive does.
        `score` names one of the scores that were asked of the same fits, such as "auc"; risks that
        differ by no more than `rope` are practically the same. Where no formula is known
        for the splits, as for those that go forward in time, there is the value and no interval.
        """
        for name in (a, b):
            refuse_unassessed(name, self.learners)
        if a == b:
            raise UnknownName(f"{a!r} is compared with itself: name two learners.")
        first, second = (of_score(self.risks[name], score) for name in (a, b))
        level = self.confidence_level
        options = {"rope": rope, "confidence_level": level}
        comparison: Comparison = load_from_above("difference")(first, second, **options)
        return replace(comparison, names=(a, b))

    def gain(self) -> Paired | None:
        """Risk of the constant answer minus that of the choice among all learners, paired by row.

        The choice and not its best learner: the smallest of several risks would gain by chance.
        """
        risk, constant = self.report, self.constant
        if risk.losses is None or risk.loss_rows is None or constant is None:
            return None
        if risk.ordered or constant.losses is None or self.problem is None:
            return None
        rows = risk.loss_rows
        return paired_difference(constant.losses[rows], risk.losses, rows, self.problem.data)


def refuse_unassessed(name: str, learners: Iterable[str]) -> None:
    """Refuse a name that none of the assessed learners has."""
    check_known("there is no learner", name, learners, "Assessed")
