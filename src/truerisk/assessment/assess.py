"""The function `assess`, which compares several tuned learners on the same splits."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from truerisk.assessment.assessment import Assessment
from truerisk.assessment.conclusion import conclude
from truerisk.assessment.constant_risk import find_best_constant
from truerisk.assessment.door import load_from_assessment
from truerisk.assessment.families import (
    build_problems,
    learner_task,
    ranked_names,
    read_learners,
    sort_names_by_text,
)
from truerisk.assessment.schedule import Schedule
from truerisk.assessment.tuned_learner import TunedLearner, add_learning_curve, assess_learner
from truerisk.contracts import FitCounts
from truerisk.core.arguments import check_flag, format_arguments, mention, refuses_old_names
from truerisk.core.errors import UnknownName
from truerisk.core.formats import prefix_errors
from truerisk.core.progress import count_fits, displays_progress, stage
from truerisk.data.data import Data, take_named_columns
from truerisk.engines.running.executors import reuse_connections
from truerisk.estimation.problem import EstimationProblem, as_seed, with_checks
from truerisk.losses.loss_words import has_several_scores
from truerisk.methods.words import as_method, to_cv_list
from truerisk.results.finding import warn_of_findings
from truerisk.search.door import check_store, open_store

if TYPE_CHECKING:
    from truerisk.assessment.learning_curves import PlannedCurve
    from truerisk.search.stored_search import StoredSearch


class Interrupted(KeyboardInterrupt):
    """Exception raised if an assessment is interrupted before its end.

    `partial` is an assessment of the learners that were finished, or None if there are none.
    `missing` names what was not assessed.
    """

    def __init__(self, partial: Assessment | None, missing: Sequence[str]) -> None:
        super().__init__(f"interrupted; not assessed: {', '.join(missing)}")
        self.partial = partial
        self.missing = tuple(missing)


@refuses_old_names
@displays_progress
def assess(
    learners: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    scoring: Any = None,
    n_jobs: Any = None,
    outer: Any = None,
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
    store: str | os.PathLike[str] | None = None,
    mixed_versions: bool = False,
    learning_curve: str | Sequence[str] | None = None,
    validate: bool | Mapping[str, Any] | None = None,
    checks: bool = True,
) -> Assessment:
    """Compare tuned learners by their honest risks, all on the same splits.

    Parameters
    ----------
    learners : dict, list of str, or None
        ``{"knn": (model, grid), "lda": model}``, or ``(model, distributions, 60)``, of which 60
        settings are drawn; or names in ``tr.models.names()``. None stands for the default learners,
        with grids for the size of the data. Learners that are given by name encode the text columns
        of a frame.
    X : array, sparse matrix or frame
        The features, as an array, a sparse matrix, or a frame of pandas, polars or pyarrow.
    y : array or column
        The target of each row.
    cv : int, str, Method, splitter or iterable of (train, test), or a list of such, optional
        The splits that tune, as in `GridSearchCV`, or a name in ``tr.methods.names()``. If a list
        is given, its first element tunes, and ``criteria`` holds the risk curves by the other
        elements. The default is "5-fold"; "holdout" above 10,000 rows; "forward-5" if times are
        given; "blocks-5" if places are given.
    scoring : str, callable, Loss, or a list or dict of them, optional
        The loss or score to report, as in `estimate_risk`. If several are given, the first one
        tunes and ranks.
    n_jobs : None, int, str or executor, optional
        Where models are fitted, as in `estimate_risk`.
    outer : str, int, Method or splitter, optional
        The splits that test each tuned learner (nested validation). The default is "pairs": the
        folds of `cv`, left out one and two at a time. If `cv` has no folds, the default method is
        used; if its folds mix rows that belong together, splits that keep these rows apart.
    rule : str or Rule, default="min"
        The rule that chooses a setting, as in `risk_curve`.
    positive : label, optional
        The positive class of scores of one class such as F1, of the ROC curve, and of `validate`.
        The default is the greater of two labels. Results name it.
    groups : array of labels or name of a column of X, optional
        Rows of one group stay on one side of every split.
    sample_weight : array or name of a column of X, optional
        Weights of the rows, used in every fit and in every mean loss.
    time : array or name of a column of X, optional
        When each row was observed, as in `estimate_risk`.
    block : array, frame or names of columns of X, optional
        Where each row was observed, as in `estimate_risk`.
    interval : str or IntervalForm, optional
        The interval of the honest risks; ``tr.intervals.names()`` lists the names.
    confidence_level : float, default=0.95
        The nominal coverage of the intervals.
    engine : str or Engine, default="auto"
        The engine that computes the predictions.
    random_state : int, None or Generator, default=0
        Source of random numbers, one seed for all learners.
    store : path, optional
        A file that stores every fit as soon as it ends; it is created if it does not exist. If the
        same call is run again after an interruption or a crash, only the missing fits are made, and
        the numbers are those of a run without interruption. Every learner needs a key: its
        parameters must be numbers, strings, arrays, models, or classes and functions of modules.
    mixed_versions : bool, default=False
        If True, stored fits by other versions of truerisk, NumPy, SciPy or scikit-learn may be
        used.
    learning_curve : "cheap", "all" or list of str, optional
        Also measure the learning curves of the tuned learners, as `learning_curve` does, to predict
        the risk with twice the rows. This takes many fits. "cheap" omits learners whose settings no
        engine answers together, and says so; a list names learners, whatever they cost.
    validate : True or mapping, optional
        Also validate the best learner, from its predictions on the same splits, as `validate` does:
        True, or arguments of it, such as ``{"subgroups": "sex", "positive": "ill"}``. No model is
        tuned for this unless ``"replicates"`` requests bootstrap samples.
    checks : bool, default=True
        Check rows and columns for what makes the risks too small, as `estimate_risk` does, and for
        columns that predict y alone or were selected beforehand. False leaves only the findings on
        splits, on the choice and on intervals.

    Returns
    -------
    Assessment
        The tuned learners with their honest risks: ``best``, ``risks``, ``curves``,
        ``table()``, ``conclusion``, ``validation``, ``to_html(path)`` and ``to_json(path)``.

    See Also
    --------
    HonestSearchCV : Tune one learner and estimate the risk of the tuned model.
    compare : Compare two learners on the same splits.
    validate : Validate one model in detail.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> knn = KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}
    >>> a = tr.assess({"knn": knn, "bayes": GaussianNB()}, X, y, cv="5-fold")
    >>> a.best
    'bayes'
    """
    methods = None if cv is None else list(map(as_method, to_cv_list(cv)))
    outer = None if outer is None else as_method(outer)  # An iterable of splits is read only once.
    check_flag("mixed_versions", mixed_versions)
    if mixed_versions and store is None:
        raise UnknownName(
            f"{mention('mixed_versions', True)} needs a store of fits, such as "
            f"{mention('store', 'runs.db')}."
        )
    check_store(store, random_state)
    seed = as_seed(random_state)  # From a Generator each learner would draw another seed.
    named_learners = read_learners(learners, seed)
    row_arguments = {"groups": groups, "sample_weight": sample_weight, "time": time, "block": block}
    families = named_learners.values() if isinstance(named_learners, Mapping) else ()
    models = list(map(attrgetter("estimator"), families))
    feature_table, row_values, _ = take_named_columns(X, row_arguments, models=models)
    data = Data.check(feature_table, y, task=learner_task(named_learners, y), **row_values)
    validation_options = None
    if validate is not None and validate is not False:
        validation_options = load_from_assessment("wishes")(validate, X, data, seed, positive)
    problems = build_problems(
        named_learners,
        data,
        [*(methods or (None,)), outer],
        row_values["sample_weight"],
        scoring=scoring,
        n_jobs=n_jobs,
        positive=positive,
        rule=rule,
        interval=interval,
        confidence_level=confidence_level,
        engine=engine,
        random_state=seed,
    )
    if validation_options is not None and validation_options.horizon is not None:
        problems = {
            name: learner_problem.with_horizon(validation_options.horizon)
            for name, learner_problem in problems.items()
        }
    schedule = Schedule.draw(problems, methods, outer)
    goes_forward = all(map(attrgetter("goes_forward"), (*schedule.methods, schedule.nested_method)))
    # All learners have the same rows, so only the rows of the first problem are checked.
    checked_problem = with_checks(next(iter(problems.values())), checks, goes_forward=goes_forward)
    for name, problem in problems.items():
        problems[name] = schedule.with_methods(replace(problem, findings=checked_problem.findings))
    curve_plans: Mapping[str, Any] = {}
    if learning_curve is not None:
        curve_plans = load_from_assessment("learning-curves")(learning_curve, problems, schedule)
    several_scores = scoring if has_several_scores(scoring) else None
    argument_texts = format_arguments(
        **row_arguments, scoring=several_scores, positive=positive, validate=validate or None
    )
    opened_store = open_store(store, problems, kind="assessment", mixed_versions=mixed_versions)
    with reuse_connections(), opened_store as stored_search:
        assessment = _tune_and_test(
            problems, schedule, stored_search, curve_plans, argument_texts, checks=checks
        )
        if checks:
            warn_of_findings(assessment.warned_findings)
        if validation_options is None:
            return assessment
        try:
            with prefix_errors(assessment.best):
                best_learner = assessment.learners[assessment.best]
                validation = load_from_assessment("validation")(best_learner, validation_options)
        except KeyboardInterrupt:  # The assessment is complete; only its validation is lost.
            raise Interrupted(assessment, ("validation",)) from None
        if isinstance(validation, str):
            return replace(assessment, no_validation=validation)
        return replace(assessment, validation=validation)


def _tune_and_test(
    problems: Mapping[str, EstimationProblem],
    schedule: Schedule,
    stored_search: StoredSearch | None,
    curve_plans: Mapping[str, PlannedCurve | str],
    argument_texts: Mapping[str, str],
    *,
    checks: bool,
) -> Assessment:
    """Tune all learners, and then test each of them.

    Testing takes longer, so that a learner that refuses the data is known before the long part.
    """
    done_learners: dict[str, TunedLearner] = {}
    unassessed_names: tuple[str, ...] | None = (
        None  # names of the learners that were not assessed because of an interruption
    )
    fit_store = None if stored_search is None else stored_search.fit_store
    n_fits = sum(map(schedule.n_fits, problems.values()))
    for curve_plan in curve_plans.values():
        n_fits += 0 if isinstance(curve_plan, str) else curve_plan.n_fits
    try:
        with count_fits(n_fits) as fit_counter:
            computed_by_learner = {}
            for name, problem in problems.items():
                with prefix_errors(name), stage(name), stage("tuning"):
                    computed_by_learner[name] = schedule.tune(problem, fit_counter, fit_store)
            for name, problem in problems.items():
                with prefix_errors(name), stage(name), stage("testing"):
                    done_learners[name] = assess_learner(
                        problem, computed_by_learner[name], schedule, fit_counter, fit_store
                    )
            for name, curve_plan in curve_plans.items():
                with prefix_errors(name), stage(name):
                    done_learners[name] = add_learning_curve(
                        done_learners[name], curve_plan, fit_counter, fit_store
                    )
    except KeyboardInterrupt:
        unassessed_names = (
            *(name for name in problems if name not in done_learners),
            *(
                f"learning curve of {curve_name}"
                for curve_name in curve_plans
                if curve_name in done_learners and not done_learners[curve_name].has_learning_curve
            ),
        )
    assessment = None
    if done_learners:
        fit_counts = None if stored_search is None else stored_search.fit_counts
        assessment = collect_assessment(
            done_learners, problems, schedule, fit_counts, argument_texts, unassessed_names or ()
        )
        assessment = replace(assessment, checked=checks)
    if unassessed_names is not None or assessment is None:
        raise Interrupted(assessment, unassessed_names or ()) from None
    return assessment


def collect_assessment(
    learners: Mapping[str, TunedLearner],
    problems: Mapping[str, EstimationProblem],
    schedule: Schedule,
    fit_counts: FitCounts | None,
    argument_texts: Mapping[str, str],
    unassessed_names: Sequence[str] = (),
) -> Assessment:
    """Combine the results of the given learners into an `Assessment` with a written conclusion."""
    families, risks = {}, {}
    for name, learner in learners.items():
        families[name], risks[name] = problems[name].family, learner.risk.loss_value
    name_order = sort_names_by_text(families)
    best_name = ranked_names(risks, name_order)[0]
    problem, choice_risk = problems[best_name], None
    if len(learners) > 1:
        choice_risk = load_from_assessment("choice")(
            learners, name_order, problem, schedule.nested_method
        )
    data, constant_prediction = problem.data, find_best_constant(problem)
    assessment = Assessment(
        learners=learners,
        best=best_name,
        conclusion="",
        scoring=problem.loss.name,
        positive=problem.loss.label(data),
        task=data.task,
        tuned_by=schedule.methods[0].name,
        tested_by=schedule.nested_method.tested_by,
        rule=problem.rule.name,
        interval=problem.interval,
        confidence_level=problem.confidence_level,
        n_rows=data.n_rows,
        classes=tuple(str(data.label(class_code)) for class_code in range(data.n_classes)),
        class_sizes=tuple(problem.class_counts.values()),
        seed=problem.seed,
        source="",
        command="",
        baseline=None
        if constant_prediction is None
        else problem.loss.scale.value(constant_prediction.risk),
        baseline_rule=None if constant_prediction is None else constant_prediction.rule,
        missing=tuple(unassessed_names),
        choice=choice_risk,
        given=argument_texts,
        order=tuple(name_order),
        problem=problem,
        testing=schedule.nested_method,
        constant=constant_prediction,
        kept=fit_counts,
    )
    return replace(assessment, conclusion=conclude(assessment))
