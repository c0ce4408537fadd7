"""`audit_table`: correct the best score of any search for the choice, from a table of losses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtrit

from truerisk.contracts import Streams
from truerisk.core.arguments import (
    check_count,
    check_flag,
    check_level,
    format_arguments,
    mention,
)
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.formats import format_number, format_percent
from truerisk.core.progress import displays_progress
from truerisk.estimation.problem import as_seed
from truerisk.external.adaptive import order_test
from truerisk.external.candidate_table import CandidateTable, read_candidate_table
from truerisk.external.table_audit import (
    CandidateDifference,
    TableAudit,
    TableRisk,
    conclusion_of,
)
from truerisk.intervals.bootstrapped_choice import (
    BiasCorrectedRisk,
    correct_risk_by_bootstrap,
)
from truerisk.intervals.bootstrapped_sets import correct_set_risk_by_bootstrap
from truerisk.results.best_set import may_be_best
from truerisk.results.evaluation import FOLD_VARIANCE_FACTOR, CandidateLosses
from truerisk.results.finding import Finding, sort_by_severity
from truerisk.results.interval import are_tied

N_NOISE_DRAWS = 2000
MAX_NOISE_CELLS = 4_000_000  # At most this many normal numbers are drawn at once (32 MB).
MOST_RIVALS = 50  # Simultaneous intervals count at most this many candidates as possible winners.
FEWEST_ROWS = 10


@displays_progress
def audit_table(
    losses_or_frame: Any,
    *,
    scoring: Any = None,
    groups: Any = None,
    order: Any = None,
    positive: Any = None,
    axis: int | None = None,
    adaptive: bool | None = None,
    trained: bool = True,
    replicates: int = 1000,
    confidence_level: float = 0.95,
    random_state: Any = 0,
) -> TableAudit:
    r"""Audit a table of losses: correct the best score of any search for the choice.

    The best of many scores on the same rows is optimistic, whoever ran the search. `audit_table`
    needs no models and no search, only what every search leaves: for each candidate its losses, or
    its predictions, on the same rows.

    Parameters
    ----------
    losses_or_frame : array, mapping, frame or path
        The table. A wide table holds the values of a candidate in each row of an array, under each
        key of a mapping, or in each column of a frame or file (CSV, TSV, Parquet, Arrow, JSON
        lines): its losses, or its scores if `scoring` is a score. A long table (a mapping, frame or
        file with a column ``candidate``) has a line for each candidate and row. It needs the column
        ``row``, and either ``loss``, or ``y`` with ``prediction`` or with ``probability_<class>``
        for each class. The columns ``fold``, ``repeat``, ``group`` and ``order`` are optional.
        Losses of several repeats are averaged by row. The losses must be out of fold: no model saw
        the rows that it is rated on.
    scoring : str, Loss or function, optional
        The loss or score, as in `estimate_risk`. For a wide table it says what the values are: 1 is
        a right answer for "accuracy", and a wrong one for "zero-one". By default they are losses.
        Scores of whole sets of rows, such as "roc_auc" and "f1", need outcomes and predictions;
        they are means over the folds if there is a column ``fold``.
    groups : array of labels or name of a column, optional
        Rows of one group belong together: the bootstrap draws whole groups.
    order : array of numbers, True or name of a column, optional
        The number of each candidate's trial; True if the candidates stand in the order in which
        they were tried. With it, `audit_table` tests whether candidates depend on the scores of
        earlier ones.
    positive : label, optional
        The class to which a score of one class refers.
    axis : {0, 1}, optional
        The axis of an array along which the candidates lie. It is needed for a square array.
    adaptive : True, optional
        Declare that the scores of earlier candidates decided which candidates came next. The
        result then has no interval. By default the test of `order` decides. False is refused, so
        that nobody can overrule the test.
    trained : bool, default=True
        True if the candidates were trained on other rows of the same table (cross-validation). The
        variance of differences is then larger, because the models of the folds share training
        rows. False for candidates that no row of the table has trained, such as prompts.
    replicates : int, default=1000
        The number of bootstrap samples.
    confidence_level : float, default=0.95
        The nominal coverage of the intervals and of the set of best candidates.
    random_state : int, None or Generator, default=0
        Source of random numbers.

    Returns
    -------
    TableAudit
        The result, with `selected`, `honest`, `optimism`, `best_set()`, `differences`, `findings`
        and `conclusion`.

    See Also
    --------
    audit : Audit a fitted search.
    compare_many : Compare learners over data sets.

    Notes
    -----
    The rows are drawn with replacement. In each sample the candidate with the best mean is
    selected, and tested on the rows that the sample does not contain. The honest value is the mean
    of these tests:

    .. math:: \frac{1}{B} \sum_b \frac{1}{|O_b|} \sum_{i \in O_b} \ell_{c_b, i}, \qquad
              c_b = \arg\min_c \sum_i n_{bi} \, \ell_{c,i}

    with :math:`n_{bi}` the number of copies of row i in sample b and :math:`O_b` the rows without
    a copy.

    The correction assumes that the candidates were not found by the scores of earlier candidates.
    If `adaptive` declares or the test of `order` finds that they were, there is no interval, and
    the finding "adaptive-search" says what to do.

    References
    ----------
    Tsamardinos, Greasidou and Borboudakis (2018), Bootstrapping the out-of-sample predictions for
    efficient and accurate cross-validation. Machine Learning 107.

    Zhang, Lee and Lei (2024), Winners with confidence: discrete argmin inference with an
    application to model selection. arXiv 2408.02060.

    Examples
    --------
    >>> import numpy as np
    >>> import truerisk as tr
    >>> losses = np.random.default_rng(0).integers(0, 2, size=(100, 1000))  # guesses
    >>> u = tr.audit_table(losses)
    >>> u.selected.value, round(u.honest.value, 2), u.refuted
    (0.46, 0.5, False)
    """
    check_level("confidence_level", confidence_level)
    check_count("replicates", replicates)
    check_flag("trained", trained)
    if adaptive is not None and adaptive is not True:
        raise BadArgument(
            f"{mention('adaptive', adaptive)}: write True, or leave it out; the test of the order "
            "cannot be overruled."
        )
    table = read_candidate_table(
        losses_or_frame,
        scoring=scoring,
        positive=positive,
        groups=groups,
        order=order,
        axis=axis,
    )
    n_candidates, n_rows = table.losses.shape
    n_units = n_rows if table.groups is None else len(np.unique(table.groups))
    if n_units < FEWEST_ROWS:
        noun = "rows" if table.groups is None else "groups"
        raise Refusal(f"{n_units} {noun} are too few: at least {FEWEST_ROWS} are needed.")
    seed, risks, scale = as_seed(random_state), table.risks, table.scale
    streams, best = Streams(seed), int(are_tied(risks, risks.min()).argmax())
    corrected = _corrected_risk(table, streams.get("bbc"), replicates)
    tested_order = None
    if table.order is not None:
        tested_order = order_test(risks, table.losses, table.order, streams.get("order"))
    adaptive_reason = "the search was declared adaptive" if adaptive else None
    if not adaptive and tested_order is not None and tested_order.is_adaptive:
        adaptive_reason = "later candidates seem to depend on the scores of earlier ones"
    notes = []
    if n_candidates > 1:
        share_of_best = corrected.selection_counts[best] / corrected.selection_counts.sum()
        notes.append(f"{share_of_best:.0%} of the bootstrap samples selected the same candidate")
    no_interval_reason = _reason_for_no_interval(corrected, confidence_level, adaptive_reason)
    if no_interval_reason:
        notes.append(f"no interval: {no_interval_reason}")
    common: dict[str, Any] = {
        "scoring": table.scoring,
        "candidate": table.names[best],
        "perfect": scale.perfect,
        "positive": table.positive,
    }
    unit = "row" if table.rated_sets is None else "test set"
    audit = TableAudit(
        selected=TableRisk(
            scale.value(float(risks[best])),
            f"best mean over {unit}s" if n_candidates > 1 else f"mean over {unit}s",
            **common,
        ),
        honest=TableRisk(
            scale.value(corrected.value),
            "bbc",
            interval=None
            if no_interval_reason
            else scale.interval(corrected.interval(confidence_level)),
            std_error=float(corrected.bootstrap_risks.std()),
            notes=tuple(notes),
            **common,
        ),
        differences=_differences(
            table,
            risks,
            best,
            FOLD_VARIANCE_FACTOR if trained else 1.0,
            confidence_level,
            streams.get("differences"),
            adaptive_reason is not None,
        ),
        findings=(),
        n_candidates=n_candidates,
        n_rows=n_rows,
        n_groups=None if table.groups is None else n_units,
        confidence_level=confidence_level,
        seed=seed,
        conclusion="",
        order_test=tested_order,
        is_declared_adaptive=adaptive is True,
        notes=table.notes,
        arguments=format_arguments(
            scoring=scoring,
            groups=groups,
            order=order,
            positive=positive,
            axis=axis,
            adaptive=adaptive,
            trained=None if trained else False,
            replicates=None if replicates == 1000 else replicates,
            confidence_level=None if confidence_level == 0.95 else confidence_level,
            random_state=seed or None,
        ),
    )
    audit = replace(audit, findings=sort_by_severity(list(_findings(audit))))
    return replace(audit, conclusion=conclusion_of(audit))


def _reason_for_no_interval(
    corrected: BiasCorrectedRisk, confidence_level: float, adaptive_reason: str | None
) -> str | None:
    """Return why the bootstrap percentiles are no valid interval, or None if they are one."""
    if adaptive_reason is not None:
        return f"{adaptive_reason}, and the bootstrap treats the candidates as fixed"
    fewest = ceil(2 / (1 - confidence_level) - 1e-9)
    if len(corrected.bootstrap_risks) < fewest:
        return (
            f"{len(corrected.bootstrap_risks)} bootstrap samples are too few for the percentiles "
            f"of a {confidence_level:.4g} interval, write replicates={fewest} at least"
        )
    if np.ptp(corrected.bootstrap_risks) == 0:
        return "every bootstrap sample gives the same value"
    return None


def _corrected_risk(
    table: CandidateTable, rng: np.random.Generator, replicates: int
) -> BiasCorrectedRisk:
    """Return the risk of the best candidate, corrected for the choice by the bootstrap."""
    if table.rated_sets is None:
        return correct_risk_by_bootstrap(
            table.losses, rng, replicates=replicates, groups=table.groups
        )
    return correct_set_risk_by_bootstrap(
        table.rated_sets.mean_risks,
        table.rated_sets.rows,
        rng,
        n_rows=table.losses.shape[1],
        replicates=replicates,
        groups=table.groups,
        remedy="leave the column 'fold' out, so that all rows are one test set.",
    )


# ---------------------------------------------------------------- differences


def _differences(
    table: CandidateTable,
    risks: np.ndarray,
    best: int,
    variance_factor: float,
    level: float,
    rng: np.random.Generator,
    is_adaptive: bool,
) -> tuple[CandidateDifference, ...]:
    """Compare every other candidate with the selected one, sorted from the best to the worst.

    There are no intervals if candidates depend on earlier scores, or if the influences of the rows
    on the score are unknown. In both cases every candidate may be the best one.
    """
    n_candidates, n_rows = table.losses.shape
    # For cross-validated labels the variance includes one more row in each direction that
    # distinguishes two candidates, as in `compare`.
    one_row = np.zeros(n_candidates) + (table.one_row if variance_factor > 1 else 0.0)
    paired = CandidateLosses(
        table.losses,
        np.full(n_rows, 1.0 / n_rows),
        table.groups,
        one_row,
        np.full(n_candidates, variance_factor),
    )
    half_widths = np.full(n_candidates, np.nan)
    is_possible = np.ones(n_candidates, dtype=bool)
    has_influences = table.rated_sets is None or table.rated_sets.loss.tells_influences
    if has_influences and not is_adaptive and n_candidates > 1:
        is_possible = may_be_best(paired, level)
        rivals = np.flatnonzero(is_possible)
        rivals = rivals[np.argsort(risks[rivals], kind="stable")][:MOST_RIVALS]
        half_widths = _half_widths(paired, best, np.union1d(rivals, [best]), level, rng)
    values = table.scale.values(risks)
    differences = []
    for c in np.argsort(risks, kind="stable").tolist():
        gap, half_width = float(values[c] - values[best]), float(half_widths[c])
        low, high = (
            (gap - half_width, gap + half_width) if np.isfinite(half_width) else (None, None)
        )
        if c != best:
            differences.append(
                CandidateDifference(
                    table.names[c], float(values[c]), gap, low, high, bool(is_possible[c])
                )
            )
    return tuple(differences)


def _half_widths(
    paired: CandidateLosses,
    best: int,
    rivals: np.ndarray,
    level: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the half widths of simultaneous intervals of all differences from the selected one.

    The selected candidate was found on the same rows. The intervals therefore hold for all pairs of
    a candidate and one of `rivals`, the possible winners, at once. The half widths use the quantile
    of the largest standardised difference of these pairs, which is simulated by normal noise with
    the covariance of the rows' or groups' losses.
    """
    contributions, shares = paired.contributions_by_unit()
    n_units = len(shares)
    # Subtracting one candidate from all changes no difference, and keeps more digits.
    contributions = contributions - contributions[best]
    centred = contributions - shares * contributions.sum(axis=1, keepdims=True)
    block = max(1, MAX_NOISE_CELLS // n_units)
    noise = np.concatenate(
        [
            rng.standard_normal((min(block, N_NOISE_DRAWS - start), n_units)) @ centred.T
            for start in range(0, N_NOISE_DRAWS, block)
        ]
    )
    products = np.einsum("ij,ij->i", centred, centred)
    largest = np.zeros(N_NOISE_DRAWS)
    for rival in rivals:
        variances = _difference_variances(centred, products, rival)
        differs = variances > 1e-20 * products.max()
        if differs.any():
            standardised = np.abs(noise[:, differs] - noise[:, [rival]]) / np.sqrt(
                variances[differs]
            )
            largest = np.maximum(largest, standardised.max(axis=1))
    # The normal quantile is converted to one of Student's t, because the standard errors are
    # estimated.
    assert paired.variance_factors is not None and paired.one_row is not None
    factor = float(paired.variance_factors[0])
    tail = max(1 - float(ndtr(np.quantile(largest, level))), 1e-12)
    quantile = float(stdtrit(max(n_units / factor - 1, 1.0), 1 - tail))
    errors = np.sqrt(_difference_variances(centred, products, best) * n_units / (n_units - 1))
    one_row = np.maximum(paired.one_row, paired.one_row[best]) * (errors > 0)
    return np.asarray(quantile * np.sqrt(factor * (errors**2 + 2 * one_row**2)))


def _difference_variances(centred: np.ndarray, products: np.ndarray, candidate: int) -> np.ndarray:
    """Return the sum of squared differences between each row of `centred` and one row."""
    cross = centred @ centred[candidate]
    return np.maximum(products + products[candidate] - 2 * cross, 0.0)


# ---------------------------------------------------------------- findings


ADAPTIVE_REMEDY = (
    "Test the selected candidate on new rows; for the next search keep a holdout behind tr.Ladder, "
    "or repeat the search in outer folds."
)


def _findings(audit: TableAudit) -> Iterator[Finding]:
    noun, honest, n_best = audit.scale.noun, audit.honest, len(audit.best_set())
    selected_text = f"The best {noun} {format_number(audit.selected.value)}"
    if audit.is_declared_adaptive:
        yield Finding(
            "adaptive-search",
            "The search was declared adaptive: later candidates depend on the scores of earlier "
            f"ones, and the honest {noun} is still too good.",
            ADAPTIVE_REMEDY,
        )
    elif audit.order_test is not None and audit.order_test.is_adaptive:
        yield Finding(
            "adaptive-search",
            f"The order of the trials is not like a random order ({audit.order_test.evidence}): "
            f"either later candidates depend on the scores of earlier ones, and the honest {noun} "
            "is still too good, or they were tried in a systematic order.",
            f"{ADAPTIVE_REMEDY} If a fixed list was tried in a sorted order, leave order out.",
        )
    if audit.refuted:
        yield Finding(
            "claim-refuted",
            f"{selected_text} lies outside the {format_percent(audit.confidence_level)} interval "
            f"{honest.interval}.",
            f"Report the honest {noun} with its interval.",
        )
    optimism = audit.optimism or 0.0
    risk = abs(audit.scale.value(honest.value))
    if optimism > max(0.1 * risk, (honest.std_error or 0.0) / 2):
        yield Finding(
            "optimism-large",
            f"{selected_text} is {format_number(optimism)} better than the honest "
            f"{format_number(honest.value)}.",
            f"Report the honest {noun}; more rows or fewer candidates make the two alike.",
        )
    if audit.n_candidates > audit.n_units / 2:
        yield Finding(
            "many-candidates",
            f"{audit.n_candidates} candidates were tried on {audit.n_units} {audit.unit}s.",
            "Try fewer candidates, or judge the selected one on new rows.",
        )
    if not audit.is_adaptive and audit.n_candidates >= 5 and n_best > audit.n_candidates / 2:
        yield Finding(
            "flat-curve",
            f"{n_best} of {audit.n_candidates} candidates may be the best one.",
            "Take the simplest of them; these rows cannot tell them apart.",
        )
