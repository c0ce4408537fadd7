"""`error_score`: fits that fail count with a score, as GridSearchCV counts them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning as TheirWarning

from truerisk.api.road.compute import Computed
from truerisk.core.arguments import is_number, shown
from truerisk.core.errors import BadArgument, FitFailed, FitFailedWarning
from truerisk.core.evaluation import Evaluation
from truerisk.core.warned import warn
from truerisk.engines.generic import Generic
from truerisk.engines.running.fitting import why_of

__all__ = ["FitsFailed", "counted", "engine_for", "own_warning"]


class FitsFailed(FitFailedWarning, TheirWarning):
    """Some fits of a search failed; also of the kind that GridSearchCV warns by."""


def engine_for(engine: Any, error_score: Any, outer: Any) -> Any:
    """The engine that goes on after a failing fit, where a score stands for it."""
    if isinstance(error_score, str) and error_score == "raise":
        return engine
    if not is_number(error_score):
        raise BadArgument(
            f"error_score={shown(error_score)}: use 'raise', or the score of a failing fit, such "
            "as numpy.nan."
        )
    if outer is not None and not np.isnan(float(error_score)):
        raise BadArgument(
            f"error_score={shown(error_score)} would count failing fits as if they had answered, "
            "and a risk has no such number: use error_score=numpy.nan, which leaves such settings "
            "out, or outer=None."
        )
    if isinstance(engine, Generic):
        return replace(engine, error="warn")
    if isinstance(engine, str) and engine in ("auto", Generic.word):
        return Generic(error="warn")
    raise BadArgument(
        f"error_score={shown(error_score)} needs the engine 'generic', and engine={shown(engine)} "
        "was asked for: leave out one of them."
    )


@contextmanager
def own_warning() -> Iterator[None]:
    """`counted` says what failed, in place of whoever ran the fits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        yield


def counted(computed: Computed, error_score: float) -> Computed:
    """The same where failing fits have this score; where all fail, there is nothing to choose."""
    answers, evaluation = computed.answers, computed.evaluation
    if not answers.failures:
        return computed
    total, failed = answers.n_fits, len(answers.failures)
    reasons = Counter(why_of(failure.sentence) for failure in answers.failures)
    told = "\n".join(
        f"{n} fits failed with the following error:\n{why}" for why, n in reasons.items()
    )
    if failed == total:
        raise FitFailed.like(
            "ValueError",
            f"All the {total} fits failed: it is likely that your model is misconfigured. Use "
            f"error_score='raise' to see where the first one does.\n{told}",
        )
    warn(
        f"{failed} fits failed out of a total of {total}.\nThe score on these train-test "
        f"partitions for these parameters will be set to {error_score}. Use error_score='raise' "
        f"to see where the first one does.\n{told}",
        FitsFailed,
    )
    if np.isnan(error_score):
        return computed
    losses = computed.problem.losses
    whole, *scores = (
        _with_score(found, answers.answered, loss.perfect - error_score)
        for found, loss in zip((evaluation, *evaluation.scores), losses, strict=True)
    )
    return replace(computed, evaluation=replace(whole, scores=tuple(scores)))


def _with_score(found: Evaluation, answered: np.ndarray, risk: float) -> Evaluation:
    """The evaluation where fits that failed have a risk."""
    risks = np.array([tested.split_risks for tested in found.tested])
    risks[~answered] = risk
    tested = (
        replace(one, value=float(of_one.mean()), split_risks=of_one)
        for one, of_one in zip(found.tested, risks, strict=True)
    )
    return replace(found, tested=tuple(tested))
