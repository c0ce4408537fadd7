"""`compare`: two rules by their losses on the same rows of the same splits."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from truerisk.api.comparing.contract import PairedTest, Tolerance, registry
from truerisk.api.comparing.pairing import pair
from truerisk.api.comparing.result import Comparison
from truerisk.core.errors import UnknownName

__all__ = ["Comparison", "compare"]

ROPE = 0.01


def compare(
    a_losses: Any,
    b_losses: Any,
    *,
    test: str = "nadeau-bengio",
    rope: float = ROPE,
    folds: Any = None,
    n_train: Any = None,
    n_test: Any = None,
    confidence_level: float = 0.95,
) -> Comparison:
    """Compare two rules by their losses on the same rows of the same splits.

    Parameters
    ----------
    a_losses, b_losses : RiskEstimate, or array of losses
        Two estimates made on the same splits (the same method and seed, or two of the ``risks`` of
        an assessment) carry all that is needed. Else losses: ``(n,)`` of rows, with `folds`; or a
        list of losses per split, or ``(J,)`` risks of J splits, with `n_train` and `n_test`.
    test : str
        "nadeau-bengio", "bayes", "mcnemar" or "5x2".
    rope : float
        For "bayes": risks that differ by no more are practically the same.
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
        ``difference`` (a − b: negative favours a), ``p_value`` or the probabilities ``better``,
        ``equivalent``, ``worse``, and what was ``assumed``.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_difficult(100, random_state=0)
    >>> a, b = (tr.estimate_risk(m, X, y) for m in (GaussianNB(), KNeighborsClassifier()))
    >>> c = tr.compare(a, b, test="bayes")
    >>> {word: round(p, 3) for word, p in c.probabilities.items()}
    {'better': 0.015, 'equivalent': 0.007, 'worse': 0.978}
    """
    if not (isinstance(rope, Real) and 0 <= rope < np.inf):
        raise UnknownName(f"rope={rope}: it is half the width of a region, 0 or more.")
    if rope != ROPE and test != "bayes":
        raise UnknownName(f"rope={rope} belongs to test='bayes'; '{test}' has no such region.")
    if not (isinstance(confidence_level, Real) and 0 < confidence_level < 1):
        raise UnknownName(f"confidence_level={confidence_level!r}: use a level between 0 and 1.")
    chosen: PairedTest = registry.load(test)()
    pairs = pair(
        a_losses, b_losses, folds=folds, n_train=n_train, n_test=n_test, per_split=chosen.per_split
    )
    return chosen.of(pairs, Tolerance(float(rope), confidence_level))
