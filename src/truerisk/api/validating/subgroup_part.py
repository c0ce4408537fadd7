"""The part of a validation that speaks of subgroups: every score in every level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from truerisk.api.validating.honest import HonestRun
from truerisk.core.answers import Answers
from truerisk.core.contracts import Terms
from truerisk.core.influences import Shaken
from truerisk.core.loss import Loss, RowLoss
from truerisk.core.loss_words import as_loss
from truerisk.core.results import RiskEstimate
from truerisk.core.validation.levels import MISSING, Levels
from truerisk.core.validation.subgroups import Subgroups
from truerisk.methods.parts.set_risks import row_losses
from truerisk.methods.parts.subgroup_risks import subgroup_risks
from truerisk.run.event import Event

__all__ = ["subgroups_of"]

BESIDES = ("auc", "brier")  # told of classes where the answers allow it


def subgroups_of(run: HonestRun, columns: tuple[Levels, ...], event: Event | None) -> Subgroups:
    """Every loss of the problem in every level of the columns, and AUC and Brier's score.

    Rows of the `event` are counted; AUC and Brier's score are the same for either of two classes.
    """
    problem = run.problem
    terms, code = (
        Terms(problem.confidence_level, problem.rule),
        None if event is None else event.code,
    )
    risks = tuple(
        subgroup_risks(answers, shaken, problem.data, loss, terms, columns, code)
        for loss, answers, shaken in _answered(run)
    )
    return Subgroups(risks, problem.confidence_level, tuple(_missing(columns)))


def _answered(run: HonestRun) -> Iterator[tuple[Loss, Answers, Shaken | None]]:
    """Every loss whose answers there are, with losses by models that lack a further fold."""
    told = run.told
    for loss, estimate in _losses(run):
        if loss.response in told:
            yield loss, told[loss.response], _shaken(run, loss, estimate)
        elif loss.response == "score" and "probability" in told:
            answers = told["probability"]  # which put the rows in an order as well
            yield loss, replace(answers, response="score", values=answers.values[..., 1]), None


def _losses(run: HonestRun) -> Iterator[tuple[Loss, RiskEstimate | None]]:
    """Those of the problem with their risks, and further ones of classes."""
    problem = run.problem
    yield problem.loss, run.risk
    for name, score in problem.scores.items():
        yield score.loss, run.risk.scores.get(name)
    if problem.data.task == "classification":
        known = {loss.word for loss in problem.losses}
        for word in BESIDES:
            if word not in known and (word != "auc" or problem.data.n_classes == 2):
                yield as_loss(word, problem.data), None


def _shaken(run: HonestRun, loss: Loss, estimate: RiskEstimate | None) -> Shaken | None:
    """As the risk keeps them, or by the answers of those models."""
    if estimate is not None and estimate.influences is not None:
        return estimate.influences.shaken
    answers = run.moved.get(loss.response)
    if answers is None or not isinstance(loss, RowLoss):
        return None
    return Shaken.of(answers, row_losses(answers, run.problem.data, loss))


def _missing(columns: tuple[Levels, ...]) -> Iterator[str]:
    for one in columns:
        if one.n_missing:
            rows = "row has" if one.n_missing == 1 else "rows have"
            yield f"{one.n_missing} {rows} no '{one.column}': they are the level '{MISSING}'."
