"""`learning_curve`: the risk with fewer rows than there are, and what to expect of more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from truerisk.api.learning.measured import measure
from truerisk.api.learning.sizes import checked_sizes, usual_sizes
from truerisk.api.learning.tested_learner import as_learner
from truerisk.core.errors import Refusal
from truerisk.core.learning_curve import LearningCurve

__all__ = ["LearningCurve", "learning_curve"]


def learning_curve(
    model: Any,
    X: Any,
    y: Any,
    *,
    sizes: Any = None,
    method: Any = None,
    loss: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
    engine: Any = "auto",
    executor: Any = None,
    random_state: Any = 0,
    store: Any = None,
) -> LearningCurve:
    r"""How the risk falls with the rows that a learner is trained on, and what more would give.

    The test sets are those of `method`, the same for all sizes; each fit sees a subsample of its
    training set. What a smaller size sees is among what a larger one sees, and small sizes are
    repeated on disjoint subsamples (`Subsampled`). The risks are fitted by a + b n^−c.

    Parameters
    ----------
    model : estimator or HonestSearchCV
        A search chooses its settings anew in every training set of every size. Of a
        `HonestSearchCV`, which is not fitted, the grid, the rule and all other words hold.
    X, y : table and target
        Arrays, sparse matrices, pandas, polars or pyarrow.
    sizes : list of int, optional
        Numbers of training rows, four or more; by default up to eight in a geometric series, up to
        all training rows.
    method : str, int, Method or splitter, optional
        Folds: "10-fold", or those that a search chooses by.
    loss : str, Loss, callable or scorer, optional
        Zero-one for classifiers and squared for regressors by default.
    groups : array of labels, optional
        Groups stay whole, in test sets and in subsamples.
    sample_weight : array, optional
        Weights of the rows in every fit and in every mean loss.
    confidence_level : float
        Of the intervals and of the band.
    engine, executor, random_state
        As in `estimate_risk`.
    store : path, optional
        A file that keeps every fit as it ends, so that a curve that was cut off goes on.

    Returns
    -------
    LearningCurve
        ``at(400)`` says what to expect of 400 training rows; ``tr.plan_sample`` takes the curve.

    References
    ----------
    Mukherjee S et al. (2003). Estimating dataset size requirements for classifying DNA microarray
    data. Journal of Computational Biology 10:119–142.
    Viering T, Loog M (2023). The shape of learning curves: a review. IEEE Transactions on Pattern
    Analysis and Machine Intelligence 45:7799–7819.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_difficult(100, random_state=0)
    >>> curve = tr.learning_curve(KNeighborsClassifier(3), X, y)
    >>> curve.sizes.tolist()
    [10.0, 14.0, 19.0, 26.0, 35.0, 48.0, 66.0, 90.0]
    >>> print(curve.at(180))
    with 180 rows expect 0.0863 [0.0303, 0.1540]
    """
    learner = as_learner(
        model,
        X,
        y,
        method=method,
        store=store,
        groups=groups,
        sample_weight=sample_weight,
        loss=loss,
        confidence_level=confidence_level,
        engine=engine,
        executor=executor,
        random_state=random_state,
    )
    whole = learner.whole()
    asked = usual_sizes(learner, whole) if sizes is None else checked_sizes(sizes, whole)
    found = measure(learner, asked)
    loss_of = learner.problem.loss
    return _with_law(
        LearningCurve(
            sizes=found.sizes,
            estimates=found.estimates,
            covariance=found.covariance,
            confidence_level=learner.problem.confidence_level,
            lower=loss_of.lower,
            upper=loss_of.upper,
            lacking=None if found.why is None else f"{found.why}: there is no band.",
        )
    )


def _with_law(curve: LearningCurve) -> LearningCurve:
    """The curve, whose law is left out where it does not fit."""
    try:
        if curve.law is not None:
            curve.law.check()
    except Refusal as refusal:
        return replace(curve, lacking=str(refusal))
    return curve
