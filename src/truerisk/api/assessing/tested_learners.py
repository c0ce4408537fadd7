"""Tuned learners compared on the same splits: every number that an assessment has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from truerisk.api.assessing.families import ranked
from truerisk.api.assessing.reference_risks import Constant, Paired, paired_difference
from truerisk.api.assessing.tuned_learner import TunedLearner
from truerisk.comparing.paired import check_asked, difference, of_score
from truerisk.core import present
from truerisk.core.answers import Answers, joined
from truerisk.core.comparison import ROPE, Comparison, may_be_best
from truerisk.core.contracts import Terms
from truerisk.core.errors import Refusal, UnknownName
from truerisk.core.learning_curve import LearningCurve
from truerisk.core.losses import AUC, AveragePrecision
from truerisk.core.registry import closest
from truerisk.core.results import RiskCurve, RiskEstimate, dress
from truerisk.core.statistics.calibration import Calibration
from truerisk.core.statistics.roc import RocCurve
from truerisk.methods.parts.paired_losses import PairedAnswers
from truerisk.methods.parts.procedure import Procedure
from truerisk.run.problem import Problem, Score
from truerisk.selection.minimum import Minimum
from truerisk.validation.validation import Validation

__all__ = ["Kept", "TestedLearners", "risk_of_choice"]


@dataclass(frozen=True)
class Kept:
    """How many fits were found in the store, and how many were added to it."""

    found: int
    added: int


@dataclass(frozen=True, eq=False)
class TestedLearners:
    """Tuned learners compared on the same splits.

    `best` is the learner with the smallest honest risk. That risk is the smallest of several and
    slightly flatters; `choice` is the honest risk of choosing among the learners as well, which is
    the number to report for the whole search. `constant` is the best answer that ignores the
    features, `baseline` its risk. `testing` is the method that tested them. `missing` names
    learners that an interruption left out; `order` says which comes first of equal ones. `source`,
    `command` and `column_names` say, for a report, what the data and their columns are called and
    what was typed, `given` which further arguments were. `kept` says what a store spared; no number
    depends on it. `validated` is the validation of the best learner, or why there is none; None
    where none was asked for.
    """

    best: str
    learners: Mapping[str, TunedLearner]
    choice: RiskEstimate | None
    constant: Constant | None
    tuned_by: str
    tested_by: str
    missing: tuple[str, ...]
    order: tuple[str, ...]
    problem: Problem = field(repr=False)
    testing: Procedure = field(repr=False)
    conclusion: str = ""
    source: str = ""
    command: str = ""
    given: Mapping[str, str] = field(default_factory=dict, repr=False)
    column_names: tuple[str, ...] = ()
    kept: Kept | None = None
    validated: Validation | str | None = field(default=None, repr=False)

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
    def named_loss(self) -> str:
        """The loss, with the class that it speaks of."""
        return self.risks[self.best].named_loss

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
    def learning_curves(self) -> dict[str, LearningCurve]:
        """Learning curves of the learners that have one (see `learning_curve=`)."""
        known = {name: one.learning_curve for name, one in self.learners.items()}
        return {name: curve for name, curve in known.items() if curve is not None}

    @property
    def roc(self) -> RocCurve | None:
        """The ROC curve of the best learner, of rows without part in its tuning or fit."""
        return self.learners[self.best].roc

    @property
    def calibration(self) -> Calibration | None:
        """The calibration of the best learner, of rows without part in its tuning or fit."""
        return self.learners[self.best].calibration

    @property
    def validation(self) -> Validation | None:
        """What a reviewer asks of the best learner (see `validate=`)."""
        return None if isinstance(self.validated, str) else self.validated

    @property
    def no_validation(self) -> str | None:
        """Why there is no validation, where one was asked for."""
        return self.validated if isinstance(self.validated, str) else None

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

    def told_scores(self) -> Iterator[tuple[str, str, RiskEstimate | None, RiskEstimate]]:
        """Of every score the name, a learner, and its selected and honest estimate.

        The loss comes first where it is a score; in each the best learners stand first, and the
        choice among all of them last.
        """
        if self.problem.loss.is_score:
            for learner in self.ranking:
                one = self.learners[learner]
                yield self.named_loss, learner, one.selected if one.tuned else None, one.risk
            if self.choice is not None:
                yield self.named_loss, present.WHOLE_SEARCH, None, self.choice
        for name in self.problem.scores:
            for learner in self.ranking:
                one = self.learners[learner]
                known = one.selected.scores if one.claim is None and one.selected else {}
                if name in one.risk.scores:
                    honest = one.risk.scores[name]
                    yield honest.named_loss, learner, known.get(name), honest
            if self.choice is not None and name in self.choice.scores:
                whole = self.choice.scores[name]
                yield whole.named_loss, present.WHOLE_SEARCH, None, whole

    @property
    def ranks(self) -> dict[str, str]:
        """By which names the AUC and the average precision were asked for, where they were."""
        asked = {name: one.loss for name, one in self.problem.scores.items()}
        kinds = {"auc": AUC, "average-precision": AveragePrecision}
        return {
            word: name
            for name, loss in {**asked, self.loss: self.problem.loss}.items()
            for word, kind in kinds.items()
            if isinstance(loss, kind)
        }

    @property
    def runner_up(self) -> str | None:
        """The learner with the second smallest honest risk."""
        others = [n for n in self.ranking if n != self.best and self.risks[n].value is not None]
        return others[0] if others else None

    def best_set(self, level: float = 0.95, *, score: str | None = None) -> list[str]:
        """The learners that may be the best: the best one is among them with probability `level`.

        By their honest losses on the same rows, or by one of the further scores, without a further
        fit (`core/comparison.py`). In the order of the ranking.
        """
        names = [name for name in self.ranking if self.risks[name].value is not None]
        kept = may_be_best(self._comparable(names, score).losses(), level)
        return [name for name, may_be in zip(names, kept, strict=True) if may_be]

    @cached_property
    def usual_best_set(self) -> list[str] | None:
        """`best_set` at the level of the intervals; None where it is refused."""
        try:
            return self.best_set(self.problem.confidence_level)
        except Refusal:
            return None

    def _comparable(self, names: Sequence[str], score: str | None) -> PairedAnswers:
        """The answers of these learners to the questions of the outer splits."""
        known = [answers for n in names if (answers := self.learners[n].answers) is not None]
        if not known or len(known) < len(names):
            raise Refusal("no learner has answers of rows that were held out: nothing compares.")
        whole, loss = joined(known), self.problem.loss
        if score is not None and score != self.loss:
            told = list(self.problem.scores)
            check_asked(score, [self.loss, *told])
            whole, loss = whole.also[told.index(score)], self.problem.scores[score].loss
        testing = self.testing.outer_method
        return PairedAnswers(replace(whole, also=()), self.problem.data, loss, testing)

    def difference(
        self,
        a: str,
        b: str,
        *,
        loss: str | None = None,
        score: str | None = None,
        rope: float = ROPE,
    ) -> Comparison:
        """The risk of learner a minus that of b, paired: negative favours a.

        `score` (or `loss`) names one of the scores that were asked of the same fits, such as "auc";
        risks that differ by no more than `rope` are practically the same. Where no formula is known
        for the splits, as for those that go forward in time, there is the value and no interval.
        """
        if loss is not None and score is not None:
            raise UnknownName("loss= and score= name the same thing: give one of them.")
        for name in (a, b):
            if name not in self.learners:
                known = ", ".join(self.learners)
                raise UnknownName(
                    f"there is no learner {name!r}{closest(name, self.learners) or '.'} "
                    f"Assessed: {known}."
                )
        if a == b:
            raise UnknownName(f"{a!r} is compared with itself: name two learners.")
        first, second = (of_score(self.risks[name], score or loss) for name in (a, b))
        level = self.problem.confidence_level
        found = difference(first, second, rope=rope, confidence_level=level)
        return replace(found, names=(a, b))

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


def risk_of_choice(
    done: Mapping[str, TunedLearner], order: Sequence[str], problem: Problem, testing: Procedure
) -> RiskEstimate | None:
    """Nested risk of "take the learner and setting with the smallest inner risk, then fit".

    It costs nothing more: every learner was tuned inside the same outer splits, so in each of them
    the answers of the learner that looked best inside are taken, of equals the first in `order`.
    So it is for every question of the outer method: the fit on all rows, which .632+ asks besides,
    is that of the learner with the smallest inner risk on all rows. None if a learner lacks an
    answer, or there is a question before which no inner risk is known.
    """
    results = [done[name] for name in order]
    answers = [one.answers for one in results]
    if any(a is None or not a.answered.all() for a in answers):
        return None
    inner = np.array([one.winners.inner_risk for one in results if one.winners is not None])
    inner[np.isnan(inner)] = np.inf  # a fit failed: nothing is known of this learner here
    if np.isinf(inner).all(axis=0).any():
        return None
    least = Minimum()
    chosen = np.array([least.choose(column, np.full(len(results), np.nan)) for column in inner.T])
    mixed = _mixed([a for a in answers if a is not None], chosen)
    further = [one.shaken for one in results if one.shaken is not None]
    known = len(further) == len(results)
    shaken = _mixed(further, chosen[further[0].plan.fold]) if known else None
    note = _note(order, chosen[~mixed.plan.own_rows])

    def risk(one: Score, papers: RiskEstimate, of: Answers, shaken: Answers | None) -> RiskEstimate:
        terms = Terms(problem.confidence_level, problem.rule, interval=one.interval)
        tested = testing.risk(of, shaken, problem.data, one.loss, terms)
        return dress(tested, _papers(results, papers, (*one.loss.notes, note)), {})

    first = results[0].risk
    moved = [None] * len(mixed.also) if shaken is None else shaken.also
    told = zip(problem.scores.items(), mixed.also, moved, strict=True)
    scores = {name: risk(one, first.scores[name], of, more) for (name, one), of, more in told}
    whole = risk(Score(problem.loss, problem.interval), first, mixed, shaken)
    return replace(whole, scores=scores)


def _mixed(answers: Sequence[Answers], chosen: np.ndarray) -> Answers:
    """The chosen learner's answers to every question."""
    plan = answers[0].plan
    values = answers[0].values.astype(np.result_type(*(a.values.dtype for a in answers)))
    for question, learner in enumerate(chosen):
        if answers[0].response == "scored":
            part = slice(question, question + 1)
        else:
            part = slice(*plan.test_offsets[question : question + 2])
        values[:, part] = answers[learner].values[:, part]
    notes = tuple(dict.fromkeys(note for a in answers for note in a.notes))
    also = tuple(_mixed(those, chosen) for those in zip(*(a.also for a in answers), strict=True))
    return replace(answers[0], values=values, notes=notes, also=also)


def _note(order: Sequence[str], chosen: np.ndarray) -> str:
    """How often which learner was chosen, the most frequent first."""
    counts = np.bincount(chosen, minlength=len(order))
    often = [f"{order[i]} {counts[i]}" for i in np.argsort(-counts, kind="stable") if counts[i]]
    return (
        f"risk of choosing among {len(order)} learners too; chosen in the outer splits: "
        f"{', '.join(often)}"
    )


def _papers(
    results: Sequence[TunedLearner], first: RiskEstimate, notes: tuple[str, ...]
) -> RiskEstimate:
    """What is said of the choice besides its value: all learners together made it."""
    risks = [one.risk for one in results]
    refusals = {word: why for risk in reversed(risks) for word, why in risk.refusals.items()}
    return replace(
        first,
        params={},
        answered=None,
        scores={},
        engine=", ".join(dict.fromkeys(risk.engine for risk in risks)),
        refusals=refusals,
        n_fits=sum(one.n_fits for one in results),
        seconds=sum(one.seconds for one in results),
        notes=notes,
    )
