"""`estimate_risk` and `risk_curve`: the risk of one model, and of every setting of a grid."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from truerisk.core.arguments import refuses_old_names
from truerisk.core.family import Family
from truerisk.core.progress import shows_progress
from truerisk.estimation.problem import Problem, pose, with_checks
from truerisk.estimation.run import compute, curve_of
from truerisk.methods.parts.averages import Averaged
from truerisk.methods.words import as_method, usual_word
from truerisk.results.finding import warn_of_findings
from truerisk.results.results import RiskCurve, RiskEstimate, all_findings


@refuses_old_names
@shows_progress
def estimate_risk(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    scoring: Any = None,
    n_jobs: Any = None,
    positive: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    block: Any = None,
    interval: Any = None,
    confidence_level: float = 0.95,
    engine: Any = "auto",
    random_state: Any = 0,
    checks: bool = True,
) -> RiskEstimate:
    """Estimate the risk of a model on new rows, in the loss or score of `scoring`.

    Parameters
    ----------
    model : estimator
        Any scikit-learn classifier, regressor, pipeline or search. A search tunes anew in every
        training set, so its risk is that of the whole procedure.
    X, y : table and target
        Arrays, sparse matrices, pandas, polars or pyarrow.
    cv : int, str, Method, splitter or iterable of (train, test), optional
        How: what `cross_val_score` takes, of which a number means folds that are not shuffled and
        stratified for classifiers, or a word; ``tr.methods.names()`` lists them. By default
        "5-fold", five shuffled folds; "forward-5" where times are given, "blocks-5" where places
        are.
    scoring : str, callable, Loss, or a list or dict of them, optional
        What is told: a name or scorer of scikit-learn, a word of ``tr.losses.names()``, a Loss, or
        a function of (y_true, y_pred) that gives a loss for each row or one for all. Of several the
        first one is the risk's, and the others are in ``scores`` of the result. By default the
        zero-one loss of classifiers and the squared loss of regressors.
    n_jobs : None, int, str or executor
        Where fits run: in this process; in so many worker processes, -1 for one per core; on
        "dask://host:port" or a Client of Dask; or on anything with ``submit``.
    positive : label, optional
        The class that scores of one class, such as F1, speak of: by default the greater of two
        labels, as in scikit-learn. Results name it.
    groups : array of labels or name of a column of X, optional
        Rows of one group stay on one side of every split. A column that is named here, or as
        `sample_weight`, `time` or `block`, is taken out of X, as on the command line: the number
        of a patient is no feature. Give its values, ``time=X["day"]``, to keep it in X as well.
    sample_weight : array or name of a column of X, optional
        Weights of the rows in every fit and in every mean loss.
    time : array or name of a column of X, optional
        When each row was taken: numbers or dates, in any order, ties allowed. Methods such as
        "forward-5" train on the past; of others a warning says which rows they test by later ones.
    block : array, frame or names of columns of X, optional
        Where each row was taken: one to three coordinates, or the label of a block.
    interval : str or IntervalForm, optional
        Which interval; ``tr.intervals.names()`` lists the words. By default the one that was
        calibrated for means over folds (``beta-cv`` for errors), of other methods their own. A
        K-fold word becomes the method that draws what the interval needs ("ncv", "beta-ncv",
        "conservative-z"); one that is not justified is refused.
    confidence_level : float
        Of the interval.
    engine : str or Engine
        "auto", a word of ``tr.engines.names()``, or an engine.
    random_state : int, None or Generator
        The same seed gives the same number wherever fits run.
    checks : bool, default=True
        Look through the rows, of large tables a sample, for near copies, an order, and columns
        that number groups, and count the events that a score rests on. What is found is in
        ``findings`` and ``notes`` of the result, and in one warning. Fits inside other calls make
        no checks.

    Returns
    -------
    RiskEstimate

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_wine(return_X_y=True)
    >>> print(tr.estimate_risk(GaussianNB(), X, y, cv="5x10-fold"))
    risk 0.0213 (zero-one, 5x10-fold), 95 % interval [0.0054, 0.0599] (beta-cv)
    """
    problem = pose(
        Family.of(model),
        X,
        y,
        scoring=scoring,
        n_jobs=n_jobs,
        positive=positive,
        groups=groups,
        sample_weight=sample_weight,
        time=time,
        block=block,
        interval=interval,
        confidence_level=confidence_level,
        engine=engine,
        random_state=random_state,
    )
    curve = _curve(problem, cv, checks=checks)
    estimate = curve[0] if curve.procedure is None else curve.procedure
    if checks:
        warn_of_findings(all_findings(estimate))
    return estimate


@refuses_old_names
@shows_progress
def risk_curve(
    model: Any,
    grid: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    scoring: Any = None,
    n_jobs: Any = None,
    rule: Any = "min",
    positive: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    block: Any = None,
    interval: Any = None,
    confidence_level: float = 0.95,
    engine: Any = "auto",
    random_state: Any = 0,
    checks: bool = True,
) -> RiskCurve:
    """Estimate the risk of every setting of a grid, on the same splits.

    `grid` is written as for GridSearchCV, and its order is kept; `rule` chooses `best`. The value
    of the chosen candidate is the best of many and therefore flatters: `HonestSearchCV`
    estimates the risk of the choice itself. The other parameters are those of `estimate_risk`.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> curve = tr.risk_curve(KNeighborsClassifier(), {"n_neighbors": [1, 5, 25]}, X, y)
    >>> curve.best_params
    {'n_neighbors': 1}
    """
    problem = pose(
        Family.of(model, grid),
        X,
        y,
        scoring=scoring,
        n_jobs=n_jobs,
        positive=positive,
        rule=rule,
        groups=groups,
        sample_weight=sample_weight,
        time=time,
        block=block,
        interval=interval,
        confidence_level=confidence_level,
        engine=engine,
        random_state=random_state,
    )
    curve = _curve(problem, cv, checks=checks)
    if checks:
        warn_of_findings(all_findings(curve.procedure or curve))
    return curve


def _curve(problem: Problem, cv: Any, *, checks: bool) -> RiskCurve:
    """The risks by a method, means over folds with the interval that was calibrated for them.

    A rule of standard errors weighs those of a search, which has none calibrated for its settings.
    """
    chosen = as_method(usual_word(problem.data) if cv is None else cv)
    problem = with_checks(problem, checks, forward=chosen.goes_forward)
    of_means = isinstance(chosen, Averaged) or chosen.tunes_inside
    calibrated = of_means and not problem.rule.needs_std_errors
    return curve_of(compute(replace(problem, calibrated=calibrated), chosen))
