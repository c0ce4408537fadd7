"""`compare`: two learners on the same rows of the same splits; `difference`, what `a - b` means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.comparing.paired_tests import PairedTest, Tolerance, registry
from truerisk.comparing.pairing import pair, refuse_unlike
from truerisk.core.arguments import shown
from truerisk.core.comparison import ROPE, Comparison
from truerisk.core.errors import BadArgument, Refusal, UnknownName
from truerisk.core.registry import closest
from truerisk.core.results import RiskEstimate

WITH_ROPE = ("paired-cv", "bayes")


def compare(
    a_losses: Any,
    b_losses: Any,
    *,
    test: str | None = None,
    score: str | None = None,
    rope: float = ROPE,
    folds: Any = None,
    n_train: Any = None,
    n_test: Any = None,
    confidence_level: float = 0.95,
) -> Comparison:
    """Compare two learners, or rules, on the same rows of the same splits.

    Parameters
    ----------
    a_losses, b_losses : HonestSearchCV, RiskEstimate, or array of losses
        Two searches that were fitted on the same rows, or two estimates made on the same splits
        (the same method and seed, or two of the ``risks`` of an assessment), carry all that is
        needed. Else losses: ``(n,)`` of rows, with `folds`; or a list of losses per split, or
        ``(J,)`` risks of J splits, with `n_train` and `n_test`; or ``(J, 2)`` risks in halves.
    test : str, optional
        "paired-cv", "nadeau-bengio", "bayes", "sharp", "mcnemar" or "5x2". By default "paired-cv"
        where both were tested by pairs of folds, else "nadeau-bengio".
    score : str, optional
        One of the further ``scores`` of the searches or estimates, such as "auc", in place of the
        loss.
    rope : float
        For "paired-cv" and "bayes": risks that differ by no more are practically the same.
    folds : array ``(n,)`` or ``(repeats, n)``, optional
        The fold that tested each row; all other rows trained.
    n_train, n_test : int or one per split, optional
        Rows that each split trained on and tested (`n_test` is known where losses of rows are
        given).
    confidence_level : float
        Of the interval of the difference.

    Returns
    -------
    Comparison
        ``value`` (a − b: negative favours a), ``interval``, ``p_value``, the probabilities
        ``better``, ``equivalent``, ``worse``, and what was ``assumed``.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_difficult(100, random_state=0)
    >>> a, b = (tr.estimate_risk(m, X, y) for m in (GaussianNB(), KNeighborsClassifier()))
    >>> c = tr.compare(a, b, test="bayes")
    >>> {word: round(p, 3) for word, p in c.probabilities.items()}
    {'better': 0.001, 'equivalent': 0.0, 'worse': 0.998}
    """
    a, b = (_risk_of(risk, score) for risk in (a_losses, b_losses))
    usual = "paired-cv" if _in_pairs(a, b) else "nadeau-bengio"
    word = usual if test is None else test
    method: PairedTest = registry.load(word)()
    tolerance = Tolerance(rope, confidence_level)
    if rope != ROPE and word not in WITH_ROPE:
        raise UnknownName(
            f"rope={rope} belongs to test='bayes' or 'paired-cv'; '{word}' has no such region."
        )
    pairs = pair(a, b, folds=folds, n_train=n_train, n_test=n_test, basis=method.works_on)
    result = method.of(pairs, tolerance)
    return replace(result, is_score=isinstance(a, RiskEstimate) and a.perfect is not None)


def difference(
    a: RiskEstimate, b: RiskEstimate, *, rope: float = ROPE, confidence_level: float | None = None
) -> Comparison:
    """What a − b is, by the test that their splits justify: `a - b` of two estimates.

    "paired-cv" where both were tested by pairs, else "bayes" on the splits, else "paired-cv" with
    the factor of one drawing, also where the splits do not add up to the values (weights, folds of
    unequal size) or all have one difference. Where no formula is known, the value alone, and a note
    says why;
    estimates of different data, splits or losses are refused.
    """
    if confidence_level is None:
        confidence_level = 0.95 if a.interval is None else a.interval.confidence_level
    tolerance = Tolerance(rope, confidence_level)
    refuse_unlike(a, b)
    assert a.value is not None
    assert b.value is not None
    value, reasons, others = a.value - b.value, [], []
    for word in ("paired-cv",) if _in_pairs(a, b) else ("bayes", "paired-cv"):
        try:
            result = compare(a, b, test=word, rope=rope, confidence_level=confidence_level)
        except Refusal as refusal:
            reasons.append(str(refusal))
            continue
        of_values = np.isclose(result.value, value, rtol=1e-9, atol=1e-12 * max(a.value, b.value))
        if of_values and result.interval is not None:
            return result
        others.append(result if of_values else _about_value(result, value, tolerance))
    if others:
        return others[0]
    n_rows = a.n_rows if a.losses is None else len(a.losses)
    return Comparison(
        "none",
        value,
        n_rows,
        a.named_loss,
        notes=tuple(reasons[:1]),
        is_score=a.perfect is not None,
    )


def _about_value(of_splits: Comparison, value: float, tolerance: Tolerance) -> Comparison:
    """The posterior of the splits about the difference of the values, where these weigh rows."""
    result = replace(of_splits, difference=value).noting(
        "the value weighs all rows equally; its error is that of the splits, which count equally."
    )
    if of_splits.std_error is None or of_splits.df is None:
        return result
    result = result.by_t(of_splits.std_error, of_splits.df, tolerance, "posterior")
    return replace(result, statistic=None, p_value=None)


def of_score(estimate: RiskEstimate, score: Any) -> RiskEstimate:
    """The estimate of the loss itself, or of one of the further scores of the same fits."""
    if score is None or (isinstance(score, str) and score == estimate.loss):
        return estimate
    check_asked(score, [estimate.loss, *estimate.scores])
    return estimate.scores[score]


def check_asked(score: Any, names: Sequence[str]) -> None:
    """Refuse a score that these fits were not asked for, with the nearest that they were."""
    if not isinstance(score, str) or score not in names:
        raise UnknownName(
            f"score={shown(score)} was not asked of these fits{closest(score, names) or '.'} "
            f"Known: {', '.join(names)}. Ask for it by scores=."
        )


def _risk_of(source: Any, score: str | None) -> Any:
    """The honest risk of a search; estimates and losses as they are."""
    if hasattr(type(source), "risk_"):
        source = source.risk_
    elif hasattr(source, "fit"):
        raise BadArgument(
            f"{type(source).__name__} keeps no losses of rows that were held out: compare two "
            "HonestSearchCV, two estimates, or losses."
        )
    if isinstance(source, RiskEstimate):
        return of_score(source, score)
    if score is not None:
        raise UnknownName("score= names a further score of searches or estimates, not of losses.")
    return source


def _in_pairs(a: Any, b: Any) -> bool:
    """Whether both are estimates that were tested by models without a further fold as well."""
    return all(
        isinstance(risk, RiskEstimate) and risk.influences is not None and risk.influences.in_pairs
        for risk in (a, b)
    )
