"""Checks of a search's parameters, and their combination with the rows into a problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from truerisk.contracts import Method
from truerisk.core.arguments import check_flag, is_number, mention, repr_on_one_line
from truerisk.core.errors import BadArgument, Refusal
from truerisk.core.family import Family, check_is_estimator, is_survival_model
from truerisk.core.frozen import frozen
from truerisk.core.identity import standard_score_name
from truerisk.data.data import Data, TaskName, take_named_columns
from truerisk.engines.generic import Generic
from truerisk.estimation.problem import (
    EstimationProblem,
    as_seed,
    problem_from_data,
    refuse_unused_positive,
    settings_seed,
)
from truerisk.losses.loss import Loss
from truerisk.losses.loss_words import (
    has_several_scores,
    import_scorer_losses,
    scores_by_name,
    split_scoring,
)
from truerisk.methods.pairs import testing_method
from truerisk.methods.parts.procedure import Procedure
from truerisk.methods.words import (
    as_method,
    average_within_folds,
    is_sklearn_cv,
    name_default_method,
)
from truerisk.search.door import check_store, load_from_search


def problem_from_search(
    search: Any, y: Any, fit_arguments: FitArguments
) -> tuple[EstimationProblem, bool]:
    """Return the estimation problem of a search, and a flag that is True for several scores.

    `n_iter` settings are drawn once, before any row is seen. If `cv` is given as in GridSearchCV,
    they are those of RandomizedSearchCV with this seed.
    """
    scoring = resolve_scoring(search)
    # Draw the seed only once, because a Generator returns another seed each time.
    seed = as_seed(search.random_state)
    model, param_grid = search.estimator, search.param_grid
    if search.n_iter is None:
        candidate_family = Family.from_grid(model, param_grid)
    else:
        drawing_seed = settings_seed(seed, uses_sklearn_seed=is_sklearn_cv(search.cv))
        candidate_family = Family.drawn(model, param_grid, search.n_iter, drawing_seed)
    uses_estimator_score = split_scoring(scoring, search.refit)[
        0
    ] is not None and not makes_predictions(model)
    task: TaskName = "other" if uses_estimator_score else candidate_family.task
    data = Data.check(
        fit_arguments.X,
        y,
        task=task,
        as_given=candidate_family.takes_y_as_given,
        **fit_arguments.rows,
    )
    scoring_function = search.scoring
    if callable(scoring_function) and (
        scorers_by_name := load_from_search("scores-of-function")(scoring_function, data)
    ):
        check_refit_name(search.refit, scorers_by_name)
        scoring = scorers_by_name
    fit_options = {
        "sample_weight": fit_arguments.rows["sample_weight"],
        "fit_params": fit_arguments.fit_params,
    }
    problem = problem_with_search_options(
        search, data, candidate_family, scoring, seed=seed, **fit_options
    )
    refuse_unused_positive(problem)
    default_method = name_default_method(data)
    tuning_method, outer_method = comparison_method(search, default_method), None
    if search.outer is not None:
        outer_method = testing_method(search.outer, tuning_method, default_method)
        if data.groups is not None or data.dependent:
            keep_apart = load_from_search("keep-apart")
            outer_method = keep_apart(outer_method, tuning_method, data, seed)
    return replace(
        problem, tuning_method=tuning_method, testing_method=outer_method
    ), has_several_scores(scoring)


def problem_with_search_options(
    search: Any, data: Data, family: Family, scoring: Any, *, seed: int, **fit_options: Any
) -> EstimationProblem:
    """Return the estimation problem of a family on checked rows, with the options of a search."""
    return problem_from_data(
        data,
        family,
        scoring=scoring,
        chooser=search.refit,
        positive=search.positive,
        rule=search.rule,
        interval=search.interval,
        confidence_level=search.confidence_level,
        engine=resolve_engine(search.engine, search.error_score, search.outer),
        n_jobs=search.n_jobs,
        random_state=seed,
        **fit_options,
    )


@frozen
class FitArguments:
    """Arguments of `fit`, sorted into three kinds.

    These are the table X, attributes of its rows such as groups, and further fit parameters.

    `rows` holds the groups, weights, times and places of the rows. `names` holds the columns of X
    that were named as such attributes; they are removed from `X`.
    """

    X: Any
    rows: dict[str, Any]
    fit_params: dict[str, Any]
    names: tuple[str, ...]


def sort_fit_arguments(
    search: Any, X: Any, groups: Any, params: dict[str, Any], time: Any = None, block: Any = None
) -> FitArguments:
    """Sort the arguments of `fit` into kinds, and look up arguments given as column names of X.

    Times and places are used by the search itself and are not passed to estimators or splitters.
    """
    from sklearn import get_config

    fit_params = {
        argument_name: argument
        for argument_name, argument in params.items()
        if argument is not None
    }
    if get_config()["enable_metadata_routing"]:
        from sklearn.utils.metadata_routing import process_routing

        metadata = fit_params if groups is None else {**fit_params, "groups": groups}
        fit_params = (
            dict(process_routing(search, "fit", **metadata).estimator.fit) if metadata else {}
        )
    sample_weight = fit_params.pop("sample_weight", None)
    row_attributes = {
        "groups": groups,
        "sample_weight": sample_weight,
        "time": time,
        "block": block,
    }
    X, row_attributes, column_names = take_named_columns(
        X, row_attributes, models=[search.estimator]
    )
    return FitArguments(X, row_attributes, fit_params, column_names)


def build_metadata_router(search: Any) -> Any:
    """Return the metadata router: fit parameters for the estimator, groups for both splitters."""
    from sklearn.utils.metadata_routing import MetadataRequest, MetadataRouter, MethodMapping

    own_request = MetadataRequest(owner=type(search).__name__)
    for option_name in ("time", "block"):
        own_request.fit.add_request(param=option_name, alias=True)
    metadata_router = MetadataRouter(owner=type(search).__name__).add(
        estimator=search.estimator,
        method_mapping=MethodMapping().add(caller="fit", callee="fit"),
    )
    metadata_router.add_self_request(own_request)
    for option_name in ("cv", "outer"):
        metadata_router.add(
            **{option_name: _splitter_request(getattr(search, option_name))},
            method_mapping=MethodMapping().add(caller="fit", callee="split"),
        )
    return metadata_router


def _splitter_request(method: Any) -> Any:
    """Return the metadata request of a splitter.

    Methods of this package request groups.
    """
    if hasattr(method, "get_metadata_routing"):
        return method
    from sklearn.utils.metadata_routing import MetadataRequest

    request = MetadataRequest(owner="truerisk method")
    request.split.add_request(param="groups", alias=True)
    return request


def resolve_scoring(search: Any) -> Any:
    """Return the scoring of a search; it is None for the default loss for its data.

    If the search has no `scoring`, the estimator's own score is used in two cases: if it makes no
    predictions, and if `cv` is given as in GridSearchCV and the class has a nonstandard score.
    """
    model = search.estimator
    if search.scoring is not None or not hasattr(model, "score"):
        return search.scoring
    if not makes_predictions(model):
        return loss_from_score_method(model)
    uses_estimator_score = is_sklearn_cv(search.cv) and standard_score_name(model) is None
    return loss_from_score_method(model) if uses_estimator_score else None


def comparison_method(search: Any, default_method: str) -> Method:
    """Return the method by which candidates are compared.

    Losses of rows are means over folds, as in GridSearchCV, unless a Method defines another
    average. Scores of whole test sets are always means over folds, unless their name ends in
    " pooled".
    """
    method = as_method(default_method if search.cv is None else search.cv)
    if isinstance(method, Procedure) and not method.shares_folds:
        raise Refusal(
            f"{mention('cv', method.name)} tests what was tuned inside, and rates no setting on "
            f"all rows: use {mention('cv', method.inner_method.name)} with "
            f"{mention('outer', method.outer_method.name)}."
        )
    return method if isinstance(search.cv, Method) else average_within_folds(method)


def check_racing_options(
    tuning_method: Method, error_score: Any, *, return_train_score: bool
) -> None:
    """Raise BadArgument if candidates race and an option needs all fits, as a race skips fits."""
    if not tuning_method.spares_fits:
        return
    if return_train_score:
        raise BadArgument(
            f"return_train_score=True asks every fit of every setting about its own rows, and "
            f"'{tuning_method.name}' does not make them all: leave one of them out."
        )
    if is_number(error_score) and not np.isnan(float(error_score)):
        raise BadArgument(
            f"{mention('error_score', error_score)} is the score of fits that failed, and would be "
            f"that of fits that '{tuning_method.name}' never made: use error_score=numpy.nan."
        )


def resolve_engine(engine: Any, error_score: Any, outer: Any) -> Any:
    """Return the engine that computes the fits of a search.

    It continues after failed fits if `error_score` is set.
    """
    if isinstance(error_score, str) and error_score == "raise":
        return engine
    if not is_number(error_score):
        raise BadArgument(
            f"{mention('error_score', error_score)}: use 'raise', or the score of a failing fit, "
            "such as numpy.nan."
        )
    if outer is not None and not np.isnan(float(error_score)):
        raise BadArgument(
            f"{mention('error_score', error_score)} would count failing fits as if they had "
            "answered, and a risk has no such number: use error_score=numpy.nan, which leaves such "
            f"settings out, or {mention('outer', None)}."
        )
    if isinstance(engine, Generic):
        return replace(engine, error="warn")
    if isinstance(engine, str) and engine in ("auto", Generic.name):
        return Generic(error="warn")
    raise BadArgument(
        f"{mention('error_score', error_score)} needs the engine 'generic', and "
        f"{mention('engine', engine)} was asked for: leave out one of them."
    )


def check_parameters(search: Any) -> None:
    """Raise an error for parameters of a search that are invalid for any data."""
    check_is_estimator(search.estimator)
    _check_refit(search.refit, search.scoring, search.outer)
    check_flag("return_train_score", search.return_train_score)
    verbose, time_limit = search.verbose, search.time_limit
    if not isinstance(verbose, Integral) or verbose < 0:
        raise BadArgument(
            f"{mention('verbose', verbose)}: use 0, or 1 for the number of fits, 2 for a line for "
            "each, 3 for its score as well."
        )
    if time_limit is not None and not (is_number(time_limit) and 0 < time_limit < np.inf):
        raise BadArgument(
            f"{mention('time_limit', time_limit)}: give seconds, more than 0, or None for no limit."
        )
    check_store(search.store, search.random_state)


def _check_refit(refit: Any, scoring: Any, outer: Any) -> None:
    """Raise BadArgument if `refit` is invalid, or impossible with this scoring and outer method."""
    if callable(refit):
        if outer is not None:
            raise BadArgument(
                f"{mention('refit', refit)} chooses from cv_results_, which the outer splits of "
                f"the honest risk do not have: use a {mention('rule')}, by which they choose as "
                f"well, or {mention('outer', None)}."
            )
    elif has_several_scores(scoring):
        check_refit_name(refit, scores_by_name(scoring))
    elif callable(scoring) and isinstance(refit, str):
        # A function may return several scores, which are checked when it is called.
        return
    elif not isinstance(refit, bool) and not (isinstance(refit, str) and refit == scoring):
        raise BadArgument(
            f"{mention('refit', refit)}: use True, False, or a function that gives the number of a "
            "setting for cv_results_."
        )


def check_refit_name(refit: Any, scores: Mapping[str, Any]) -> None:
    """Raise BadArgument if `refit` is a name, but not the name of one of the scores.

    If `refit` is a bool, the first score chooses the setting.
    """
    if not isinstance(refit, bool) and not (isinstance(refit, str) and refit in scores):
        raise BadArgument(
            "For multi-metric scoring, the parameter refit must be set to a scorer key or a "
            f"callable to refit what it chooses: {mention('refit', refit)} is none of the scores "
            f"{repr_on_one_line(list(scores))}. Name the one that chooses, or leave refit out, so "
            f"that the first one, {next(iter(scores))!r}, does."
        )


def loss_from_score_method(estimator: Any) -> Loss:
    """Return the estimator's own `score` method as a loss."""
    from sklearn.metrics import check_scoring

    loss: Loss = import_scorer_losses().NegativeScore(check_scoring(estimator), "own score")
    return loss


def makes_predictions(estimator: Any) -> bool:
    """Return True if the estimator predicts values that can be compared with y."""
    from sklearn.base import is_classifier, is_regressor

    learner = Family(estimator).last
    return bool(is_classifier(estimator) or is_regressor(estimator) or is_survival_model(learner))
