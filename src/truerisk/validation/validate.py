"""The function `validate`, which reports what reviewers of clinical or regulated models ask for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from truerisk.checks.columns import (
    column_view,
    find_target_leaks,
    identifier_column_findings,
)
from truerisk.core.arguments import (
    check_flag,
    check_level,
    format_arguments,
    mention,
    refuses_old_names,
)
from truerisk.core.errors import BadData, FitFailed, Refusal
from truerisk.core.family import Family, check_is_estimator
from truerisk.core.formats import escape_and_truncate
from truerisk.core.identity import is_a
from truerisk.core.progress import displays_progress
from truerisk.data.columns import category_order
from truerisk.data.data import Data, take_named_columns
from truerisk.engines.running.fitting import extract_model_message
from truerisk.estimation.problem import EstimationProblem, as_seed, problem_from_data
from truerisk.losses.loss_words import split_scoring
from truerisk.methods.external import External
from truerisk.search.any_model import problem_from_model
from truerisk.search.search import HonestSearchCV
from truerisk.search.search_problem import resolve_scoring
from truerisk.validation.given_predictions import GivenPredictions, GivenRisks
from truerisk.validation.honest import HonestRun
from truerisk.validation.validation import Validation, compute_validation
from truerisk.validation.wishes import ValidationOptions


@refuses_old_names
@displays_progress
def validate(
    search_or_model: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    n_jobs: Any = None,
    prefit: bool = False,
    positive: Any = None,
    subgroups: Any = None,
    groups: Any = None,
    time: Any = None,
    block: Any = None,
    thresholds: Any = None,
    clip: float | None = None,
    replicates: int | None = None,
    samples: Any = None,
    confidence_level: float | None = None,
    horizon: float | None = None,
    random_state: Any = 0,
    **params: Any,
) -> Validation:
    r"""Validate a tuned or a finished model by its predictions for rows that it had not seen.

    For an event: `discrimination` (AUC, average precision, R²), `calibration` (slope, intercept,
    distances from a flexible curve with a band) and `net_benefit` over thresholds; for numbers:
    `calibration`, with R². Each measure is reported for held-out rows (honest), for the model and
    its own training rows (apparent), and corrected for optimism: with a model fitted on bootstrap
    sample b, and tuned in it if the search tunes,

    .. math:: \text{corrected} = \text{apparent} - \frac{1}{B} \sum_b
              (\text{training}_b - \text{test}_b),

    computed on the sample (training) and on all rows (test), as validate of the R package rms does.

    Parameters
    ----------
    search_or_model : HonestSearchCV, or any model
        A search that was fitted on these rows is not fitted again: its held-out predictions are
        used, and if they were labels, the winners of its outer splits predict probabilities.
        Otherwise one honest run is made: with the search's own arguments, or by pairs of five folds
        for a model.
    X : array, sparse matrix or frame
        The features, as an array, a sparse matrix, or a frame of pandas, polars or pyarrow.
    y : array or column
        The target of each row.
    scoring : str, callable, Loss, or a list or dict of them, optional
        The score of `risk`, and further scores, as in `estimate_risk`, such as ``["uno",
        "integrated-brier"]`` for an outcome in time. A search has its own scores. For a finished
        model no score needs a fit.
    n_jobs : None, int, str or executor, optional
        Where models are fitted, as in `estimate_risk`. The default is that of the search.
    prefit : bool, default=False
        If True, the model is finished, and predicts these rows, which it was not trained on,
        without a fit: external validation. A `sklearn.frozen.FrozenEstimator` is treated in the
        same way. There is no apparent value, no optimism and no stability.
    positive : label, optional
        The class that is the event. The default is the second of two classes in sorted order. With
        more classes it has to be named, and is compared with all others.
    subgroups : str or list of str, array, frame or dict of arrays, optional
        Columns, of X or others, for whose levels every score is computed, with simultaneous
        intervals and shrunken values. Missing values form a level of their own.
    groups : array of labels or name of a column of X, optional
        Rows of one group stay together in folds and in samples, and count as one in intervals. A
        named column is no feature, as in `estimate_risk`, unless a finished model has seen it.
    time : array or name of a column of X, optional
        When each row was observed, as in `estimate_risk`: a model is tested on later rows
        ("forward-5") unless a search specifies other splits. Such rows are not independent tests:
        losses of rows have intervals that account for it, other measures have values only.
    block : array, frame or names of columns of X, optional
        Where each row was observed, as in `estimate_risk`: a model is tested on rows away from its
        training rows ("blocks-5"). Losses of rows and the AUC have intervals that account for the
        dependence, other measures have values only.
    thresholds : array, optional
        Probabilities from which on one treats, for the net benefit. The default are 0.01 to 0.99.
    clip : float, optional
        Replace probabilities below `clip` by `clip`, and those above 1 − `clip` by 1 − `clip`.
        Without it, probabilities of exactly 0 and 1 have no logit, so that there is no slope and no
        curve.
    replicates : int, optional
        The number of bootstrap samples in which everything is repeated: 50 by default, 0 for none,
        200 or more for a publication. A finished model has none.
    samples : array (samples, rows), optional
        The row numbers of given samples, instead of `replicates` drawn ones.
    confidence_level : float, optional
        The nominal coverage of all intervals, 0.95 by default. A search that has not been fitted
        has its own.
    horizon : float, optional
        For an outcome in time, which needs it: the event is that it happened by this time. Rows
        that were censored earlier have weight 0, and the other rows weigh 1 over their probability
        of being followed.
    random_state : int, None or Generator, default=0
        The seed of the samples, and of the folds of a model; a search has its own.
    **params
        Fit parameters of the search, such as ``sample_weight``, as in its ``fit``.

    Returns
    -------
    Validation
        The validation; ``print`` shows its tables, ``to_html(path)`` writes a page. A part that
        does not exist is None, and ``missing`` gives the reason.

    See Also
    --------
    validate_predictions : Validate predictions of another program.
    plan_validation : Plan the number of rows for a validation.
    assess : Compare several tuned learners.
    HonestSearchCV : Tune a model and estimate its risk.

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
    seed = as_seed(random_state)
    times_and_places = {"time": time, "block": block}
    check_flag("prefit", prefit)
    is_prefit = prefit or is_a(search_or_model, FROZEN_ESTIMATOR)
    if is_prefit:
        refuse_refits(replicates=replicates or None, samples=samples)
    replicates = (0 if is_prefit else DEFAULT_REPLICATES) if replicates is None else replicates
    if confidence_level is not None:
        check_level("confidence_level", confidence_level)
    if not is_prefit and isinstance(search_or_model, HonestSearchCV):
        for name, value in {"scoring": scoring, "confidence_level": confidence_level}.items():
            if value is not None:
                raise Refusal(
                    f"{mention(name, value)} is that of the search: give it to HonestSearchCV, and "
                    "leave it out here."
                )
    scoring_options = {} if scoring is None else {"scoring": scoring}
    if positive is not None and scoring is not None:
        scoring_options["positive"] = positive  # The scores of one class refer to this event, too.
    make_problem = make_prefit_problem if is_prefit else make_validation_problem
    problem = make_problem(
        search_or_model, X, y, groups, dict(params), seed, **times_and_places, **scoring_options
    )
    problem = problem.with_executor(n_jobs)
    if confidence_level is not None:
        problem = replace(problem, confidence_level=confidence_level)
    validation_options = ValidationOptions.from_arguments(
        None if isinstance(search_or_model, GivenPredictions) else X,
        problem.data,
        seed,
        needs_horizon=not isinstance(search_or_model, GivenRisks),
        positive=positive,
        subgroups=subgroups,
        thresholds=thresholds,
        clip=clip,
        replicates=replicates,
        samples=samples,
        horizon=horizon,
    )
    if horizon is not None:
        problem = problem.with_horizon(horizon)
    data = problem.data
    typed_arguments = format_arguments(
        prefit=is_prefit or None,
        **{
            "positive": positive,
            "subgroups": subgroups,
            "groups": groups,
            **times_and_places,
            **params,
        },
        thresholds=thresholds,
        clip=clip,
        replicates=None if is_prefit else replicates,
        samples=samples,
        confidence_level=confidence_level,
        horizon=horizon,
        scoring=scoring,
        random_state=seed or None,
    )
    validation = compute_validation(honest_run(problem, search_or_model), validation_options)
    notes = [*validation.notes]
    if (columns := column_view(data.X)) is not None:
        findings = (*find_target_leaks(data, columns), *identifier_column_findings(data, columns))
        notes += [f"{finding.sentence} {finding.remedy}" for finding in findings]
    if positive is None:
        notes += _category_order_notes(y, data, validation.rows["event"])
    return replace(validation, notes=tuple(notes), given=typed_arguments)


def _category_order_notes(y: Any, data: Data, event: Any) -> list[str]:
    """Return a note if the order of y's categories would make the other class the event."""
    categories = category_order(y)
    if categories is None or data.classes is None or data.n_classes != 2:
        return []
    last_labels = [label for label in categories if label in data.classes.tolist()][-1:]
    if not last_labels or last_labels[0] == event:
        return []
    note_text = (
        f"the event is {event!r}, the second class as labels are sorted, and y orders its "
        f"categories so that {last_labels[0]!r} is the second: where that is the event, name it "
        f"(positive={last_labels[0]!r})."
    )
    return [note_text]


def make_validation_problem(
    search_or_model: Any,
    X: Any,
    y: Any,
    groups: Any,
    params: dict[str, Any],
    seed: Any,
    **further_arguments: Any,
) -> EstimationProblem:
    """Return the problem of a search, or of a model, to be tested by pairs of folds.

    A model that tunes inside its own fit is tested by plain folds. `further_arguments` holds times
    and places of the rows, and the scoring of a model. If the search was fitted already, on these
    very rows, the problem is the one that it tested.
    """
    is_honest_search = isinstance(search_or_model, HonestSearchCV)
    if is_honest_search and search_or_model.outer is None:
        raise Refusal(
            f"{mention('outer', None)} leaves out the answers about held-out rows, which a "
            f"validation rests on: use {mention('outer', 'pairs')}."
        )
    problem = problem_from_model(
        search_or_model, X, y, groups, params, random_state=seed, **further_arguments
    )
    if not is_honest_search or not hasattr(search_or_model, "risk_"):
        return problem
    if search_or_model.risk_.data_fingerprint != problem.data.fingerprint:
        raise Refusal(
            "the search was fitted on other rows than these X and y (or with other groups, "
            "weights, times or places): give what it was fitted on, or a search that is not "
            "fitted. prefit=True validates it on rows that took no part in it."
        )
    # A time limit may have left out some settings of the search.
    if search_or_model.curve_.candidates != problem.family.candidates:
        family = replace(problem.family, candidates=search_or_model.curve_.candidates)
        return replace(problem, family=family)
    return problem


FROZEN_ESTIMATOR = "sklearn.frozen:FrozenEstimator"
DEFAULT_REPLICATES = 50  # default number of bootstrap samples


def refuse_refits(**arguments: Any) -> None:
    """Raise Refusal for an argument that requests fits of a finished model."""
    for name, value in arguments.items():
        if value is not None:
            raise Refusal(
                f"{mention(name, value)} asks for fits, and a finished model is not fitted again: "
                "leave it out."
            )


def make_prefit_problem(
    model: Any,
    X: Any,
    y: Any,
    groups: Any,
    params: dict[str, Any],
    seed: Any,
    *,
    scoring: Any = None,
    positive: Any = None,
    **times_and_places: Any,
) -> EstimationProblem:
    """Return the problem that tests a finished model on all rows as one test set.

    A finished HonestSearchCV keeps its own scoring and confidence level. The weights of the rows do
    not enter any fit, so that any model may have weights.
    """
    from sklearn.frozen import FrozenEstimator
    from sklearn.utils.validation import check_is_fitted

    sample_weight = params.pop("sample_weight", None)
    refuse_refits(**params)
    frozen_model = model if is_a(model, FROZEN_ESTIMATOR) else FrozenEstimator(model)
    check_is_estimator(frozen_model.estimator)
    family = Family.from_grid(frozen_model)
    try:
        check_is_fitted(frozen_model)
    except NotFittedError:
        raise Refusal(
            f"{type(frozen_model.estimator).__name__} is not fitted, and a finished model was "
            "announced: fit it on rows of its own, or leave out prefit and FrozenEstimator for a "
            "validation that makes the fits."
        ) from None
    row_arguments = {"groups": groups, "sample_weight": sample_weight, **times_and_places}
    feature_names = getattr(frozen_model, "feature_names_in_", ())
    X, rows, _ = take_named_columns(X, row_arguments, keep=feature_names)
    data = Data.check(X, y, task=family.task, as_given=family.takes_y_as_given, **rows)
    has_probabilities = data.classes is not None and hasattr(frozen_model, "predict_proba")
    problem_arguments: dict[str, Any] = {"scoring": "log" if has_probabilities else None}
    if isinstance(frozen_model.estimator, HonestSearchCV):
        search, risk = (
            frozen_model.estimator,
            getattr(frozen_model.estimator, "selected_risk_", None),
        )
        if risk is not None and risk.data_fingerprint == data.fingerprint:
            raise Refusal(
                "the search was fitted on these very rows, so that its answers about them are not "
                "honest: leave prefit out, and they are taken from its outer folds."
            )
        main_scoring, _ = split_scoring(resolve_scoring(search), search.refit)
        problem_arguments = {"scoring": main_scoring, "confidence_level": search.confidence_level}
    problem_arguments |= {} if scoring is None else {"scoring": scoring}
    _refuse_other_classes(frozen_model, data)
    problem = problem_from_data(
        data, family, random_state=seed, positive=positive, **problem_arguments
    )
    return replace(problem, tuning_method=External(), testing_method=External())


def _refuse_other_classes(model: Any, data: Data) -> None:
    """Refuse a model whose classes differ from those of y."""
    if data.classes is None or not hasattr(model, "classes_"):
        return
    model_classes, data_classes = (
        np.asarray(classes).tolist() for classes in (model.classes_, data.classes)
    )
    if set(model_classes) != set(data_classes):
        model_classes_text, data_classes_text = (
            escape_and_truncate(", ".join(map(repr, classes)), 160)
            for classes in (model_classes, data_classes)
        )
        raise Refusal(
            f"the finished model tells the classes {model_classes_text} apart, and y has "
            f"{data_classes_text}: give "
            "y the labels of the model, and rows of each of its classes."
        )


def honest_run(problem: EstimationProblem, search_or_model: Any) -> HonestRun:
    """Return the run that a fitted search stores, or else test the tuning procedure anew.

    The run of a finished model keeps that model, so that a checklist can describe it.
    """
    if isinstance(problem.testing_method, External):
        try:
            model = problem.family.estimator.estimator
            return replace(
                HonestRun.from_problem(problem), model=getattr(model, "best_estimator_", model)
            )
        except (FitFailed, BadData) as error:
            if not (reason := extract_model_message(str(error))):
                raise
            raise Refusal(f"the finished model cannot answer about these rows: {reason}") from error
    if not isinstance(search_or_model, HonestSearchCV) or not hasattr(search_or_model, "risk_"):
        return HonestRun.from_problem(problem)
    stored_run = _stored_run(problem, search_or_model)
    run = (
        HonestRun.from_problem(problem)
        if stored_run is None
        else stored_run.add_richest_predictions()
    )
    return replace(run, model=getattr(search_or_model, "best_estimator_", None))


def _stored_run(problem: EstimationProblem, search: HonestSearchCV) -> HonestRun | None:
    """Return the run that a fitted search stores; None if the winner of some split is unknown."""
    risk = search.risk_
    if risk.answered is None or risk.value is None:
        return None
    plan = risk.answered.answers[0].plan
    winners = np.array([split.best_index for split in search.outer_])
    if len(winners) != plan.n_questions:
        return None
    return HonestRun(problem, risk, risk.answered, winners, search.best_index_)
