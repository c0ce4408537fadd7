"""`validate`: what a reviewer of a clinical or regulated model asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.api.road.provenance import as_seed
from truerisk.api.validating.asked import asked_of
from truerisk.api.validating.checklist_part import checklist_of
from truerisk.api.validating.honest import honest_run
from truerisk.api.validating.stability_part import stability_of
from truerisk.api.validating.subgroup_part import subgroups_of
from truerisk.api.validating.two_outcomes import Wishes, parts_of_two_outcomes
from truerisk.core.arguments import check_count, shown
from truerisk.core.errors import BadArgument
from truerisk.core.validation.held_out import HeldOut
from truerisk.core.validation.levels import levels_of
from truerisk.core.validation.validation import Validation

__all__ = ["Validation", "validate"]


def validate(
    search_or_model: Any,
    X: Any,
    y: Any,
    *,
    subgroups: Any = None,
    groups: Any = None,
    thresholds: Any = None,
    clip: float | None = None,
    replicates: int = 50,
    samples: Any = None,
    executor: Any = None,
    random_state: Any = 0,
    **params: Any,
) -> Validation:
    r"""Validate a tuned model by its answers about rows that it had not seen.

    Of two outcomes: `discrimination` (AUC, average precision, R²), `calibration` (slope, intercept,
    distances from a flexible curve with a band) and `net_benefit` over thresholds. Each measure is
    told of held-out rows (honest), of the model and its own rows (apparent), and corrected for
    optimism: with a model fitted on bootstrap sample b, tuned in it where the search tunes,

    .. math:: \text{corrected} = \text{apparent} - \frac{1}{B} \sum_b
              (\text{training}_b - \text{test}_b),

    rated on the sample (training) and on all rows (test), as validate of the R package rms does.

    Parameters
    ----------
    search_or_model : HonestSearchCV, or any model
        A search that was fitted on these rows is not fitted again: its held-out answers are taken,
        and where they were labels its outer winners are asked for probabilities. Else one honest
        run is made: by the search's own words, or by pairs of ten folds for a model.
    X, y : table and target
        Of two classes the second, in their order, is the event.
    subgroups : names, array, frame or dict of arrays, optional
        Columns, of X or others, in whose levels every score is told, with intervals that hold
        together and shrunken values. A missing level is one of its own.
    groups : array of labels, optional
        Rows of one group stay together in folds and in samples, and count as one in intervals.
    thresholds : array, optional
        Probabilities from which one treats, for the net benefit; 0.01 to 0.99 by default.
    clip : float, optional
        Take probabilities below `clip`, or above 1 − `clip`, for these. Probabilities of exactly 0
        and 1 have no logit, and so there is no slope and no curve without it.
    replicates : int
        Bootstrap samples in which everything is done anew; 0 for none, 200 and more to publish.
    samples : array (samples, rows), optional
        The row numbers of given samples.
    executor : None, int or executor
        Where fits are made, as in `estimate_risk`; that of the search by default.
    random_state : int, None or Generator
        Of the samples, and of the folds of a model; a search has its own.
    **params
        Fit parameters of the search, such as ``sample_weight``, as in its ``fit``.

    Returns
    -------
    Validation
        ``print`` shows the tables, ``to_html(path)`` writes a page. A part that does not exist is
        None, and ``missing`` says why.

    References
    ----------
    Steyerberg EW (2019). Clinical Prediction Models. 2nd edition, Springer.
    Van Calster B et al. (2019). Calibration: the Achilles heel of predictive analytics. BMC
    Medicine 17:230.
    Harrell FE (2015). Regression Modeling Strategies. 2nd edition, Springer.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = tr.datasets.make_difficult(120, random_state=0)
    >>> v = tr.validate(LogisticRegression(), X, y, replicates=20)
    >>> v.calibration["brier"].honest > v.calibration["brier"].apparent
    True
    >>> v.missing
    {}
    """
    check_count("replicates", replicates, least=0)
    wishes = Wishes(
        thresholds=_thresholds(thresholds),
        clip=_clip(clip),
        replicates=replicates,
        samples=samples,
        seed=as_seed(random_state),
        executor=executor,
    )
    asked = asked_of(search_or_model, X, y, groups, dict(params), wishes.seed)
    data = asked.problem.data
    columns = None if subgroups is None else levels_of(subgroups, X, data.n_rows)
    run = honest_run(asked)
    held_out = HeldOut.of(run.answered, run.problem.data)
    found = parts_of_two_outcomes(run, held_out, wishes)
    by_level = None if columns is None else subgroups_of(run, columns)
    stability = stability_of(run, found.own, found.samples)
    return Validation(
        risk=run.risk,
        held_out=held_out,
        subgroups=by_level,
        stability=stability,
        checklist=checklist_of(run, found.parts, by_level, stability, found.samples),
        missing=found.missing,
        notes=found.notes,
        **found.parts,
    )


def _thresholds(given: Any) -> np.ndarray:
    """Probabilities from which one treats, ascending; 0.01, 0.02, ... 0.99 by default."""
    if given is None:
        return np.arange(1, 100) / 100
    try:
        found = np.unique(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim != 1 or not len(found) or not ((found >= 0) & (found < 1)).all():
        raise BadArgument(
            f"thresholds={shown(given)}: give probabilities from which one treats, 0 ≤ t < 1."
        )
    return found


def _clip(given: Any) -> float | None:
    """How near to 0 and 1 probabilities may come."""
    from numbers import Real

    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, Real) or not 0 < float(given) < 0.5:
        raise BadArgument(
            f"clip={shown(given)}: give how near to 0 and 1 probabilities may come, 0 < clip < 0.5."
        )
    return float(given)
