"""`learning_curve`: measure the risk with fewer training rows, and extrapolate it to more rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from truerisk.core.arguments import mention, refuses_old_names
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.family import Family
from truerisk.core.progress import displays_progress
from truerisk.diagnostics.learner_by_size import (
    LearnerBySize,
    checked_sizes,
    measure_learning_curve,
    subsampleable_method,
    usual_sizes,
)
from truerisk.estimation.problem import EstimationProblem, problem_from_arguments
from truerisk.losses.loss_words import has_several_scores
from truerisk.methods.pairs import Pairs
from truerisk.methods.parts.averages import Averaged
from truerisk.methods.words import DEFAULT_FOLDS, as_method
from truerisk.results.learning_curve import LearningCurve
from truerisk.search.door import check_store, open_store
from truerisk.search.search import HonestSearchCV
from truerisk.search.search_problem import problem_from_search, sort_fit_arguments

DEFAULT_ARGUMENTS: Mapping[str, Any] = {
    "scoring": None,
    "n_jobs": None,
    "confidence_level": 0.95,
    "engine": "auto",
    "random_state": 0,
    "store": None,
}
"""Default arguments of `learning_curve`."""

REFUSAL_REASONS: Mapping[str, str] = {
    "time": "time: rows drawn from a history leave gaps in it, and an earlier model is no smaller "
    "one, so no law extrapolates such a curve. To compare lengths of history, compare windows: "
    "tr.estimate_risk(model, X, y, time=time, cv=tr.methods.Forward(5, window=w)) for each w.",
    "block": "block: rows drawn from a map leave it thinner, and those tested further from it, so "
    "that size and distance cannot be separated. Labels of blocks may be given as groups=; how the "
    "risk grows with the distance is shown by tr.methods.Blocks with several sizes.",
}


@refuses_old_names
@displays_progress
def learning_curve(
    model: Any,
    X: Any,
    y: Any,
    *,
    sizes: Any = None,
    cv: Any = None,
    scoring: Any = None,
    n_jobs: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    block: Any = None,
    confidence_level: float = 0.95,
    engine: Any = "auto",
    random_state: Any = 0,
    store: Any = None,
) -> LearningCurve:
    """Measure how the risk falls with the number of training rows, and extrapolate it.

    The test sets are those of `cv`, and are the same for all sizes; each model is fitted on a
    subsample of its training set. The subsample of a smaller size is contained in that of a larger
    size, and small sizes are repeated on disjoint subsamples (`Subsampled`). The curve a + b n^−c
    is fitted to the risks, where n is the number of training rows.

    Parameters
    ----------
    model : estimator or HonestSearchCV
        The learner. A search chooses its settings anew in every training set of every size. For a
        `HonestSearchCV`, which need not be fitted, its grid, its rule and all its other arguments
        are used.
    X : array, sparse matrix or frame
        The features, as an array, a sparse matrix, or a frame of pandas, polars or pyarrow.
    y : array or column
        The target of each row.
    sizes : list of int, optional
        Numbers of training rows, at least four. By default up to eight sizes in a geometric series,
        up to all training rows.
    cv : int, str, Method or splitter, optional
        Folds, as in `estimate_risk`. The default is "5-fold", or the folds by which a search
        chooses; if these mix rows of one group, folds of whole groups, as in the search.
    scoring : str, callable or Loss, optional
        The loss or score, as in `estimate_risk`.
    n_jobs : None, int, str or executor, optional
        Where models are fitted, as in `estimate_risk`.
    groups : array of labels or name of a column of X, optional
        Groups stay whole, in test sets and in subsamples.
    sample_weight : array or name of a column of X, optional
        Weights of the rows, used in every fit and in every mean loss.
    time : None
        Times are refused with a remedy, because fewer rows would be an older history.
    block : None
        Places are refused with a remedy, because fewer rows would be a sparser map.
    confidence_level : float, default=0.95
        The nominal coverage of the intervals and of the band.
    engine : str or Engine, default="auto"
        The engine that computes the predictions, as in `estimate_risk`.
    random_state : int, None or Generator, default=0
        Source of random numbers.
    store : path, optional
        A file that stores every fit as soon as it ends, so that an interrupted call can be
        continued.

    Returns
    -------
    LearningCurve
        The risks at the training sizes and the fitted curve. ``at(400)`` returns the expected risk
        with 400 training rows; ``tr.plan_sample`` accepts the curve.

    See Also
    --------
    plan_sample : Plan the number of test rows, from a curve or from an error.
    truerisk.methods.Subsampled : The method that measures one size.

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
    [10.0, 13.0, 18.0, 24.0, 33.0, 44.0, 59.0, 80.0]
    >>> print(curve.at(180))
    with 180 rows expect 0.0865 [0.0310, 0.1525]
    """
    for name, value in {"time": time, "block": block}.items():
        if value is not None:
            raise Refusal(REFUSAL_REASONS[name])
    learner = as_learner(
        model,
        X,
        y,
        cv=cv,
        store=store,
        groups=groups,
        sample_weight=sample_weight,
        scoring=scoring,
        n_jobs=n_jobs,
        confidence_level=confidence_level,
        engine=engine,
        random_state=random_state,
    )
    full_size_plan = learner.full_size_plan()
    train_sizes = (
        usual_sizes(learner, full_size_plan)
        if sizes is None
        else checked_sizes(sizes, full_size_plan)
    )
    named_problems = {learner.problem.family.name: learner.problem}
    with open_store(learner.store, named_problems, kind="search") as opened_store:
        curve = measure_learning_curve(
            learner, train_sizes, None if opened_store is None else opened_store.fit_store
        )
        if opened_store is not None:
            opened_store.warn_if_no_fit_matches()
    return curve


def as_learner(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any,
    store: Any,
    groups: Any,
    sample_weight: Any,
    **terms: Any,
) -> LearnerBySize:
    """Return the estimator whose risk is measured; a HonestSearchCV provides its own settings."""
    if has_several_scores(terms["scoring"]):
        raise BadArgument(
            f"{mention('scoring', terms['scoring'])}: a learning curve is of one score. Give one, "
            "and call learning_curve again for another."
        )
    row_arguments = {"groups": groups, "sample_weight": sample_weight}
    if not isinstance(model, HonestSearchCV):
        check_store(store, terms["random_state"])
        problem = problem_from_arguments(Family.from_grid(model), X, y, **row_arguments, **terms)
        outer_method = subsampleable_method(as_method(DEFAULT_FOLDS if cv is None else cv))
        return LearnerBySize(problem, outer_method, store=store)
    # Arguments that the search itself defines are refused here, since they would have no effect.
    for name, value in {**terms, "store": store}.items():
        if value is not DEFAULT_ARGUMENTS[name] and value != DEFAULT_ARGUMENTS[name]:
            raise BadArgument(
                f"{mention(name, value)}: the search has {mention(name, getattr(model, name))}; "
                "set it there."
            )
    if model.time_limit is not None:
        raise BadArgument(
            f"{mention('time_limit', model.time_limit)} would compare fewer settings where a fit "
            "has more rows, and the curve would be of another search at each size: leave it out."
        )
    if callable(model.refit):
        raise BadArgument(
            "refit as a function chooses on all rows alone, and here settings are chosen in every "
            f"training set: choose by {mention('rule')}."
        )
    check_store(model.store, model.random_state)
    fit_arguments = sort_fit_arguments(model, X, groups, {"sample_weight": sample_weight})
    problem = replace(problem_from_search(model, y, fit_arguments)[0], scores={}, interval=None)
    assert problem.tuning_method is not None
    test_method = _testing_method(model, problem, cv)
    return LearnerBySize(problem, test_method, problem.tuning_method, model.store)


def _testing_method(search: HonestSearchCV, problem: EstimationProblem, cv: Any) -> Averaged:
    """Return the method that tests a search: `cv` if it is given, else the search's own folds.

    If these folds mix rows of one group, the outer splits that test the search take their place.
    """
    if cv is not None:
        return subsampleable_method(as_method(cv))
    outer_method = Pairs() if search.outer is None else as_method(search.outer)
    if not isinstance(outer_method, Pairs):
        return subsampleable_method(outer_method)
    folds_method: Any = outer_method.folds
    if folds_method is None:
        testing_method, folds_method = problem.testing_method, problem.tuning_method
        if testing_method is not None and not isinstance(testing_method, Pairs):
            folds_method = testing_method.outer_method
    folds_method = as_method(folds_method)
    if isinstance(folds_method, Averaged) and folds_method.has_folds:
        return subsampleable_method(replace(folds_method, average=None))  # type: ignore[type-var]
    return subsampleable_method(DEFAULT_FOLDS)
