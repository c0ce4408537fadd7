"""`estimate_risk` and `risk_curve`: the risk of one model, and of every setting of a grid."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from truerisk.core.arguments import refuses_old_names
from truerisk.core.family import Family
from truerisk.core.identity import takes_environment
from truerisk.core.progress import displays_progress
from truerisk.estimation.problem import (
    EstimationProblem,
    bind_environment,
    problem_from_arguments,
    with_checks,
)
from truerisk.estimation.run import compute_risks, to_risk_curve
from truerisk.methods.parts.averages import Averaged
from truerisk.methods.words import as_method, name_default_method
from truerisk.results.finding import warn_of_findings
from truerisk.results.results import RiskCurve, RiskEstimate, all_findings


@refuses_old_names
@displays_progress
def estimate_risk(
    model: Any,
    X: Any,
    y: Any = None,
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
        Any scikit-learn classifier, regressor, pipeline or search. A search is tuned again in every
        training set, so its risk is that of the whole procedure.
    X : array, sparse matrix or frame
        The features, as an array, a sparse matrix, or a frame of pandas, polars or pyarrow. For a
        learner or search of skrub's DataOps: its environment, without y.
    y : array or column
        The target of each row.
    cv : int, str, Method, splitter or iterable of (train, test), optional
        The method of estimation. Values that `cross_val_score` accepts mean what they mean there: a
        number stands for folds that are not shuffled, stratified for classifiers. A name selects a
        method; ``tr.methods.names()`` lists them. The default is "5-fold", which has five shuffled
        folds; it is "forward-5" if times are given, and "blocks-5" if places are given.
    scoring : str, callable, Loss, or a list or dict of them, optional
        The loss or score to estimate: the name of a scikit-learn scorer or the scorer itself, a
        name in ``tr.losses.names()``, a Loss, or a function of (y_true, y_pred) that returns one
        loss per row or one number. If several are given, the risk is that of the first, and the
        result holds the others in ``scores``. The default is the zero-one loss for classifiers and
        the squared loss for regressors.
    n_jobs : None, int, str or executor, optional
        Where models are fitted: in so many worker processes (-1 for one per core), on a Dask
        cluster ("dask://host:port" or a Dask Client), or on any executor with ``submit``. None
        stands for what ``joblib.parallel_config`` says, else for this process.
    positive : label, optional
        The positive class of scores such as F1. The default is the greater of two labels, as in
        scikit-learn. Results name it.
    groups : array of labels or name of a column of X, optional
        Rows of one group stay on one side of every split. A column that is named here, or in
        `sample_weight`, `time` or `block`, is removed from X, as on the command line, because a
        patient's number is no feature. To keep the column in X as well, pass its values:
        ``time=X["day"]``.
    sample_weight : array or name of a column of X, optional
        Weights of the rows, used in every fit and in every mean loss.
    time : array or name of a column of X, optional
        When each row was observed: numbers or dates, in any order, with ties allowed. Methods such
        as "forward-5" train on the past. Other methods warn if they test rows with models that were
        trained on later rows.
    block : array, frame or names of columns of X, optional
        Where each row was observed: one to three coordinates, or the label of a block.
    interval : str or IntervalForm, optional
        The form of the interval; ``tr.intervals.names()`` lists the names. By default means over
        folds get the interval that was calibrated for them (``beta-cv`` for error rates), and other
        methods get their own. If an interval needs more than K folds, the K-fold method is replaced
        by the method that draws what it needs ("ncv", "beta-ncv", "conservative-z"). An interval
        that is not justified is refused.
    confidence_level : float, default=0.95
        The nominal coverage of the interval.
    engine : str or Engine, default="auto"
        The engine that computes the predictions: "auto", a name in ``tr.engines.names()``, or an
        engine.
    random_state : int, None or Generator, default=0
        Source of random numbers. The same seed gives the same result wherever models are fitted.
    checks : bool, default=True
        Check the rows (a sample of them if the table is large) for near copies, for an order, and
        for columns that number groups, and count the events that a score rests on. Findings are in
        ``findings`` and ``notes`` of the result, and in one warning. Fits inside other calls are
        not checked.

    Returns
    -------
    RiskEstimate
        The estimate, with its interval, its origin and the findings of the checks.

    Raises
    ------
    Refusal
        If a method, loss or interval is not justified for these data.
    BadData
        If the rows cannot be used as they are.

    See Also
    --------
    risk_curve : Estimate the risk of every setting of a grid.
    HonestSearchCV : Tune a model and estimate the risk of the tuned model.
    truerisk.methods.names : List the methods that `cv` takes.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_wine(return_X_y=True)
    >>> print(tr.estimate_risk(GaussianNB(), X, y, cv="5x10-fold"))
    risk 0.0213 (zero-one, 5x10-fold), 95 % interval [0.0054, 0.0599] (beta-cv)
    """
    if takes_environment(model):
        model, X, y = bind_environment(model, X, y, scoring)
    problem = problem_from_arguments(
        Family.from_grid(model),
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
    curve = _compute_curve(problem, cv, checks=checks)
    estimate = curve[0] if curve.procedure is None else curve.procedure
    if checks:
        warn_of_findings(all_findings(estimate))
    return estimate


@refuses_old_names
@displays_progress
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

    The risk of the chosen candidate is optimistic, because it is the smallest of many:
    `HonestSearchCV` estimates the risk of the choice itself.

    Parameters
    ----------
    model : estimator
        The learner, or a pipeline that contains it.
    grid : dict or list of dicts
        The settings, in the form that GridSearchCV takes. The order of the settings is preserved.
    X : array, sparse matrix or frame
        The features, as an array, a sparse matrix, or a frame of pandas, polars or pyarrow.
    y : array or column
        The target of each row.
    cv : int, str, Method, splitter or iterable of (train, test), optional
        The method of estimation, as in `estimate_risk`.
    scoring : str, callable, Loss, or a list or dict of them, optional
        The loss or score, as in `estimate_risk`. If several are given, the first one chooses.
    n_jobs : None, int, str or executor, optional
        Where models are fitted, as in `estimate_risk`.
    rule : str or Rule, default="min"
        The rule that chooses `best`: "min", "1-se", or a rule of your own.
    positive : label, optional
        The positive class of scores such as F1, as in `estimate_risk`.
    groups : array of labels or name of a column of X, optional
        Rows of one group stay on one side of every split.
    sample_weight : array or name of a column of X, optional
        Weights of the rows, used in every fit and in every mean loss.
    time : array or name of a column of X, optional
        When each row was observed, as in `estimate_risk`.
    block : array, frame or names of columns of X, optional
        Where each row was observed, as in `estimate_risk`.
    interval : str or IntervalForm, optional
        The form of the interval, as in `estimate_risk`.
    confidence_level : float, default=0.95
        The nominal coverage of the intervals.
    engine : str or Engine, default="auto"
        The engine that computes the predictions, as in `estimate_risk`.
    random_state : int, None or Generator, default=0
        Source of random numbers.
    checks : bool, default=True
        Check the rows, as in `estimate_risk`.

    Returns
    -------
    RiskCurve
        The estimate of every setting, in the order of the grid, and the setting that the rule
        chose.

    See Also
    --------
    estimate_risk : Estimate the risk of one model.
    HonestSearchCV : Choose a setting and estimate the risk of that choice.
    SelectionBias : Measure by how much the smallest of several risks is too small.

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
    problem = problem_from_arguments(
        Family.from_grid(model, grid),
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
    curve = _compute_curve(problem, cv, checks=checks)
    if checks:
        warn_of_findings(all_findings(curve.procedure or curve))
    return curve


def _compute_curve(problem: EstimationProblem, cv: Any, *, checks: bool) -> RiskCurve:
    """Compute the risk curve of all candidates, with intervals where the method has them.

    Calibrated intervals are used if the method averages losses over folds. If the rule needs
    standard errors, calibrated intervals are not used, because none is calibrated for the settings
    of a search.
    """
    method = as_method(name_default_method(problem.data) if cv is None else cv)
    problem = with_checks(problem, checks, goes_forward=method.goes_forward)
    averages_losses = isinstance(method, Averaged) or method.tunes_inside
    uses_calibrated_interval = averages_losses and not problem.rule.needs_std_errors
    return to_risk_curve(
        compute_risks(replace(problem, uses_calibrated_interval=uses_calibrated_interval), method)
    )
