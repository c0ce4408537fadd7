"""`compare_many`: methods by their values on many data sets."""

from __future__ import annotations

from typing import Any

from truerisk.core.comparison import ROPE
from truerisk.study.comparison.comparing import compared
from truerisk.study.comparison.result import ManyComparison
from truerisk.study.comparison.scores import read_scores
from truerisk.study.comparison.terms import Terms

__all__ = ["ManyComparison", "compare_many"]


def compare_many(
    scores: Any,
    *,
    better: str = "lower",
    rope: float = ROPE,
    missing: str = "leave-out",
    pairwise: str = "wilcoxon",
    control: str | None = None,
    methods: Any = None,
    data_sets: Any = None,
    correlation: Any = None,
    quantity: str = "value",
    confidence_level: float = 0.95,
    random_state: int = 0,
) -> ManyComparison:
    """Compare methods by their values on many data sets (Demšar 2006; Benavoli et al. 2017).

    Parameters
    ----------
    scores : frame, mapping or array
        A frame with a row per data set and a column per method (a column of text, or the index,
        names the data sets); a mapping of method to values, or to a mapping of data set to value;
        or an array ``(data sets, methods)``. What is missing is None or NaN. A cell may hold the
        results of several splits (an array ``(data sets, methods, splits)``); its value is their
        mean.
    better : str
        "lower" (risks) or "higher" (accuracy, AUC).
    rope : float
        Values that differ by no more are practically the same, in the units of the values.
    missing : str
        "leave-out": a data set on which a method has no value takes part in nothing. "last": that
        method ranks last there.
    pairwise : str
        "wilcoxon": signed-rank tests, or "ranks": differences of average ranks.
    control : str, optional
        The method that all others are held against; without one all pairs are.
    methods, data_sets : names, optional
        Where the table has none, or other ones.
    correlation : float or one per data set, optional
        Of the results of two splits of a data set, n_test / (n_train + n_test): 1/k of k folds,
        0 of splits that share no rows. With it the hierarchical test looks at single splits.
    quantity : str
        What the values are, for the page.
    confidence_level : float
        Of intervals; the level of the tests is what it leaves of 1.
    random_state : int
        Of the draws of the Bayesian test.

    Returns
    -------
    ManyComparison
        ``ranks``, ``friedman``, ``pairs``, ``critical_difference``, the ``conclusion`` in
        sentences; ``to_html(path)`` writes a page, ``plot()`` draws the diagram.

    Examples
    --------
    >>> import truerisk as tr
    >>> risks = {
    ...     "knn": [0.31, 0.22, 0.12, 0.40, 0.08, 0.25, 0.19, 0.33],
    ...     "forest": [0.24, 0.17, 0.11, 0.31, 0.04, 0.20, 0.17, 0.25],
    ...     "constant": [0.50, 0.45, 0.41, 0.48, 0.33, 0.50, 0.39, 0.46],
    ... }
    >>> found = tr.compare_many(risks)
    >>> dict(zip(found.methods, found.ranks))
    {'knn': 2.0, 'forest': 1.0, 'constant': 3.0}
    >>> found.pair("knn", "forest").p_holm
    0.0234375
    """
    terms = Terms(better, missing, pairwise, control, rope, confidence_level, random_state)
    return compared(read_scores(scores, methods, data_sets, correlation), terms, quantity)
