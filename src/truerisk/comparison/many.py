"""The function `compare_many`, which compares methods by their values on many data sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.comparison.many_comparison import ManyComparison, conclusion_sentences
from truerisk.comparison.method_pairs import MethodPair, compare_pairs
from truerisk.comparison.ranks import critical_difference, friedman_test, rank_rows
from truerisk.comparison.scores import RankOptions, RankTable, Scores, make_rank_table, read_scores
from truerisk.core.arguments import mention
from truerisk.core.progress import displays_progress
from truerisk.core.registry import check_known
from truerisk.results.interval import DEFAULT_ROPE


def compare_table(
    scores: Scores, rank_options: RankOptions, quantity: str = "value"
) -> ManyComparison:
    """Rank the methods of a table, test their differences, and write the conclusion."""
    if rank_options.control is not None:
        check_known(
            f"{mention('control')}: the table has no method",
            rank_options.control,
            scores.methods,
            "It has",
        )
    table = make_rank_table(scores, rank_options)
    ranks = rank_rows(table.oriented_values)
    n_compared, n_methods = ranks.shape
    pairs = compare_pairs(table, ranks, rank_options)
    comparison = ManyComparison(
        quantity=quantity,
        data_sets=scores.data_sets,
        methods=scores.methods,
        values=tuple(
            tuple(None if np.isnan(value) else value for value in row)
            for row in scores.values.tolist()
        ),
        ranks=tuple(ranks.mean(0).tolist()),
        friedman=friedman_test(ranks),
        critical_difference=critical_difference(
            n_compared, n_methods, rank_options.confidence_level
        ),
        pairs=pairs,
        terms=rank_options,
        n_compared=n_compared,
        conclusion=(),
        left_out=table.left_out,
        notes=(*scores.notes, *table.notes, *_notes(table, ranks, pairs, rank_options)),
    )
    return replace(comparison, conclusion=tuple(conclusion_sentences(comparison)))


def _notes(
    table: RankTable, ranks: np.ndarray, pairs: tuple[MethodPair, ...], rank_options: RankOptions
) -> Iterator[str]:
    n_data_sets = len(ranks)
    if (ranks == ranks[:, :1]).all():
        yield "all methods are tied on every data set: there is nothing to distinguish"
    else:
        for pair in pairs:
            if pair.ties == pair.n:
                yield f"{pair.a} and {pair.b} are equal on every data set"
    if table.no_hierarchical_reason:
        yield f"the hierarchical test is left out: {table.no_hierarchical_reason}"
    alpha, smallest_p = rank_options.alpha, 2.0 ** (1 - n_data_sets)
    if rank_options.pairwise == "wilcoxon" and smallest_p * len(pairs) > alpha:
        yield (
            f"{n_data_sets} data sets are too few: the smallest p-value that the signed-rank test "
            f"can have is {smallest_p:.3g}, and Holm multiplies it by {len(pairs)}, so nothing can "
            f"be significant at level {alpha:.3g}"
        )
    if any(pair.interval is None for pair in pairs):
        yield (
            "no interval of a difference keeps the level "
            f"{rank_options.confidence_level:.15g} with so few data sets"
        )


@displays_progress
def compare_many(
    scores: Any,
    *,
    better: str = "lower",
    rope: float = DEFAULT_ROPE,
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
        or an array ``(data sets, methods)``. Missing values are None or NaN. A cell may hold the
        results of several splits (an array ``(data sets, methods, splits)``); its value is their
        mean.
    better : {"lower", "higher"}, default="lower"
        "lower" for risks, "higher" for scores such as accuracy or AUC.
    rope : float, default=0.01
        Values that differ by at most this amount, in the units of the values, are practically
        equal.
    missing : {"leave-out", "last"}, default="leave-out"
        "leave-out" omits a data set on which a method has no value. "last" ranks that method last
        there.
    pairwise : {"wilcoxon", "ranks"}, default="wilcoxon"
        "wilcoxon" compares pairs by signed-rank tests, "ranks" by differences of average ranks.
    control : str, optional
        The method with which all others are compared. By default all pairs are compared.
    methods : sequence of str, optional
        Names of the methods, if the table has none, or other names.
    data_sets : sequence of str, optional
        Names of the data sets, if the table has none, or other names.
    correlation : float or one per data set, optional
        The correlation of the results of two splits of a data set, n_test / (n_train + n_test): 1/k
        for k folds, 0 for splits that share no rows. If it is given, the hierarchical test uses
        single splits.
    quantity : str, default="value"
        What the values are, for the page.
    confidence_level : float, default=0.95
        The nominal coverage of intervals. The level of the tests is one minus it.
    random_state : int, default=0
        The seed of the draws of the Bayesian test.

    Returns
    -------
    ManyComparison
        ``ranks``, ``friedman``, ``pairs``, ``critical_difference`` and the ``conclusion`` in
        sentences; ``to_html(path)`` writes a page, ``plot()`` draws the diagram.

    See Also
    --------
    compare : Compare two learners on one data set.
    assess : Compare tuned learners on one data set.

    References
    ----------
    Demšar J (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7:1–30.

    Benavoli A, Corani G, Demšar J, Zaffalon M (2017). Time for a change: a tutorial for comparing
    multiple classifiers through Bayesian analysis. Journal of Machine Learning Research 18:1–36.

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
    rank_options = RankOptions(
        better, missing, pairwise, control, rope, confidence_level, random_state
    )
    return compare_table(
        read_scores(scores, methods, data_sets, correlation), rank_options, quantity
    )
