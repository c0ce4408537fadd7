"""`HonestSearchCV`: a grid search like GridSearchCV that also reports the risk of its choice."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from time import perf_counter
from typing import Any, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin

from truerisk.contracts import FitCounts
from truerisk.core import formats, plain_values, tables
from truerisk.core.arguments import refuse_old_names, refuses_old_names
from truerisk.core.documented import DocumentedEstimator
from truerisk.core.errors import Refusal
from truerisk.core.family import has_best_params
from truerisk.core.identity import takes_environment
from truerisk.core.progress import displays_progress, stage
from truerisk.engines.running.doors import refuse_too_large
from truerisk.engines.running.executors import reuse_connections
from truerisk.estimation.outer_splits import OuterFold, Stability, choice_stability, outer_folds
from truerisk.estimation.problem import EstimationProblem, bind_environment, with_checks
from truerisk.estimation.run import Computation, compute_risks, to_procedure_estimate, to_risk_curve
from truerisk.results.finding import warn_of_findings
from truerisk.results.results import RiskCurve, RiskEstimate, all_findings
from truerisk.search.as_given import compare_with_untuned
from truerisk.search.cv_results import (
    choose_by_function,
    print_fits,
    rate_settings,
    suppress_fit_warnings,
)
from truerisk.search.door import NO_TASKS, SearchTasks, load_from_search, open_store
from truerisk.search.search_problem import (
    FitArguments,
    build_metadata_router,
    check_parameters,
    check_racing_options,
    problem_from_search,
    sort_fit_arguments,
)
from truerisk.search.tuned_model import LossScorer, MissingAttribute, TunedModel

_OUTER_NONE_MESSAGE = ("outer=None", "leaves the honest risk out", "outer='10-fold'")
_REFIT_FALSE_MESSAGE = ("refit=False", "fits no model on all rows", "refit=True")


try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # scikit-learn before 1.9 has no callbacks.

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Base class that offers nothing."""


class HonestSearchCV(
    CallbackSupportMixin, DocumentedEstimator, TunedModel, MetaEstimatorMixin, BaseEstimator
):
    """Grid search that also estimates the risk of the tuned model.

    The score that a search maximised is the best of many noisy numbers, and flatters.
    `HonestSearchCV` chooses a setting as GridSearchCV does (splits `cv`, rule `rule`), fits it
    again on all rows, and estimates the risk of *choosing and fitting* by repeating both without
    some of the rows (nested, or double, cross-validation). By default the rows left out are pairs
    of the folds by which it chooses: C settings and K folds need C K(K+1)/2 fits.

    Parameters
    ----------
    estimator : estimator
        The learner to tune; any classifier, regressor or pipeline. Without `param_grid` it may also
        be an adaptive search (HalvingGridSearchCV, OptunaSearchCV, BayesSearchCV, or any class that
        sets ``best_params_``): a fresh clone of it is then fitted in every outer split.
    param_grid : dict or list of dicts, optional
        As for GridSearchCV; the order is kept. With `n_iter` it may contain distributions with
        ``rvs``, lists, or functions of a numpy Generator. By default the estimator is used with the
        parameters that it has.
    cv : int, str, Method, splitter or iterable, optional
        How settings are compared: anything that GridSearchCV accepts, where a number means folds
        that are not shuffled, stratified for classifiers; or a name of ``tr.methods.names()``. By
        default "5-fold"; "forward-5" if `fit` is given times, "blocks-5" if it is given places.
        Folds are averaged as in GridSearchCV; a Method defines its own average.
    scoring : str, callable, Loss, or a list or dict of them, optional
        What chooses and is reported: a name or scorer of scikit-learn, a name of
        ``tr.losses.names()``, a Loss, or a function of (y_true, y_pred) that returns a loss for
        each row or one for all. If there are several, the first one chooses, unless `refit` names
        another one; the others are in `scores_`. By default the zero-one loss for classifiers and
        the squared loss for regressors.
    n_jobs : None, int, str or executor
        Where scikit-learn's fits run: in this number of worker processes, -1 for one per core; on
        "dask://host:port" or a Client of Dask; or on any object with ``submit``. None stands for
        what ``joblib.parallel_config`` says, else for this process. Fast engines run in this
        process.
    n_iter : int, optional
        The number of settings that are drawn, once, from a stream of their own of `random_state`.
        If `cv` is a number, a splitter or splits, they are the settings of RandomizedSearchCV with
        this seed.
    rule : str or Rule, default="min"
        "min" or "1-se". Risks within 1e-12 are ties; the first in grid order wins.
    outer : str, int, Method, splitter, iterable or None, default="pairs"
        How the risk of the procedure is estimated: by "pairs", which leaves out the folds of `cv`
        one and two at a time, or by the outer splits of nested validation, within which the folds
        are drawn again. If `cv` has no folds, "pairs" stands for the default method; if `cv`
        respects the order of time, it stands for `cv` itself. If the folds of `cv` mix rows that
        belong together by the groups, times or places given to `fit`, "pairs" stands for outer
        splits that keep these rows apart, as in `audit`. None omits `risk_`.
    positive : label, optional
        The class to which scores of one class, such as F1, refer: by default the greater of two
        labels, as in scikit-learn. Results name it.
    refit : bool, str or callable, default=True
        Fit the chosen setting on all rows. If there are several scores, a name determines the one
        that chooses. A function of `cv_results_` returns the number of the chosen setting. A
        function needs ``outer=None``, because outer splits choose by `rule`.
    random_state : int, None or Generator, default=0
        The seed of the folds, and of models whose own ``random_state`` is None.
    engine : str or Engine, default="auto"
        The engine that computes the predictions.
    interval : str, optional
        The interval of `risk_`, a name of ``tr.intervals.names()``. By default it is the calibrated
        interval ("beta-cv", or "log-cv" for losses without a bound) if `outer` is a K-fold method,
        else the interval of `outer`. "bbc" also gives `selected_risk_` an interval, which accounts
        for the choice.
    confidence_level : float, default=0.95
        Confidence level of the intervals.
    error_score : "raise" or float, default="raise"
        The score of a failing fit. NaN leaves out the settings with failing fits.
    return_train_score : bool, default=False
        If True, `cv_results_` contains the scores on the training rows of the fits.
    verbose : int, default=0
        1 prints the number of fits, 2 also a line for each fit, 3 also its score.
    time_limit : float, optional
        Seconds after which no further fit of the search begins. Settings are tried completely, in
        grid order; the risks are those of choosing among the settings that were tried.
    store : path, optional
        A file that stores every fit as soon as it ends. If the same search is run again after a
        crash, only the fits that the file lacks are made. Engines that answer all settings at once
        store none.
    checks : bool, default=True
        If True, check the rows and warn of all findings. If False, `findings_` contains only the
        findings on the predictions, without a warning.

    Attributes
    ----------
    risk_ : RiskEstimate
        The honest risk of the whole procedure.
    selected_risk_ : RiskEstimate
        The risk, or score, of the chosen setting, which flatters.
    optimism_ : float or None
        The difference by which `selected_risk_` is better than `risk_`; it is positive if the
        search flatters. It is None if the two are in different losses (a search by AIC), and if
        there was only one setting.
    scores_ : dict of RiskEstimate
        The honest risk of the procedure in each further score of `scoring`.
    outer_ : tuple of OuterFold
        For each outer split: the chosen `params`, the sizes, and `risk` and `inner_risk` on the
        scale of `scoring`.
    stability_ : Stability
        How often the outer splits chose the setting that was chosen on all rows.
    curve_ : RiskCurve
        The risk of every candidate on all rows.
    search_ : estimator
        The search that was given instead of a grid, fitted on all rows; `outer_`, `stability_` and
        `curve_` do not exist then.
    findings_ : tuple of Finding
        Findings of the checks, each with `code`, `sentence`, `remedy` and `severity`. They are also
        in ``risk_.findings``, in ``risk_.notes`` and in one warning.
    kept_ : Fits
        The numbers of fits that were found in the `store` and added to it.
    row_columns_ : tuple of str
        The columns of X that were named in `fit` as groups, times, places or weights. They are not
        features: methods such as `predict` remove them from a frame that contains them.
        `best_estimator_` gets frames without them.
    best_estimator_, best_params_, best_index_, best_score_, cv_results_, scorer_, refit_time_
        As in GridSearchCV; scores are ``1 - risk`` for zero-one and ``-risk`` for squared loss.

    See Also
    --------
    estimate_risk : Estimate the risk of one model, or of a search of another package.
    assess : Compare several tuned learners on the same splits.
    audit : Check the claim of a search that is fitted already.
    sklearn.model_selection.GridSearchCV : The search of scikit-learn, whose score is optimistic.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from truerisk import HonestSearchCV
    >>> X, y = load_wine(return_X_y=True)
    >>> search = HonestSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 4]})
    >>> search = search.fit(X, y)
    >>> search.best_params_, bool(search.risk_.value > 0)
    ({'max_depth': 4}, True)
    """

    risk_ = MissingAttribute[RiskEstimate](*_OUTER_NONE_MESSAGE)
    optimism_ = MissingAttribute[float | None](*_OUTER_NONE_MESSAGE)
    outer_ = MissingAttribute[tuple[OuterFold, ...]](*_OUTER_NONE_MESSAGE, needs_grid=True)
    scores_ = MissingAttribute[dict[str, RiskEstimate]](*_OUTER_NONE_MESSAGE)
    stability_ = MissingAttribute[Stability](*_OUTER_NONE_MESSAGE, needs_grid=True)
    curve_ = MissingAttribute[RiskCurve](*_OUTER_NONE_MESSAGE, needs_grid=True)
    best_estimator_ = MissingAttribute[Any](*_REFIT_FALSE_MESSAGE)
    kept_ = MissingAttribute[FitCounts]("store=None", "keeps no fits", "store='search.db'")

    # In a bootstrap sample, `fit` gets the row numbers as groups.
    # The copies of a row then stay in the same fold.
    copies_as_groups = True
    # Subpackages that cannot import this class recognise it by this attribute.
    _is_honest_search = True

    @refuses_old_names
    def __init__(
        self,
        estimator: Any,
        param_grid: Any = None,
        *,
        cv: Any = None,
        scoring: Any = None,
        n_jobs: Any = None,
        n_iter: int | None = None,
        rule: Any = "min",
        outer: Any = "pairs",
        positive: Any = None,
        refit: Any = True,
        random_state: Any = 0,
        engine: Any = "auto",
        interval: Any = None,
        confidence_level: float = 0.95,
        error_score: Any = "raise",
        return_train_score: bool = False,
        verbose: int = 0,
        time_limit: float | None = None,
        store: Any = None,
        checks: bool = True,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.n_iter = n_iter
        self.rule = rule
        self.outer = outer
        self.positive = positive
        self.refit = refit
        self.random_state = random_state
        self.engine = engine
        self.interval = interval
        self.confidence_level = confidence_level
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.verbose = verbose
        self.time_limit = time_limit
        self.store = store
        self.checks = checks

    def set_params(self, **params: Any) -> Self:
        """Set parameters as scikit-learn does; refuse their old names.

        Parameters
        ----------
        **params
            The parameters by name. ``estimator__name`` sets a parameter of the estimator.

        Returns
        -------
        HonestSearchCV
            The search itself.
        """
        refuse_old_names(params, self.get_params(deep=False))
        return super().set_params(**params)

    @displays_progress
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        groups: Any = None,
        time: Any = None,
        block: Any = None,
        **params: Any,
    ) -> Self:
        """Choose a setting, fit it on all rows, and estimate the risk of this procedure.

        Groups and fit parameters are used in both loops, with and without scikit-learn's metadata
        routing. Parameters that name columns of the frame X remove these columns from the features:
        `predict` accepts frames with and without them.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The features, as an array, a sparse matrix, or a frame of pandas, polars or pyarrow.
            For a learner or search of skrub's DataOps: its environment, without y.
        y : array or column
            The target of each row.
        groups : array of labels or name of a column of X, optional
            Rows of one group stay on one side of every split, except of the splits of a `cv` that
            ignores groups. `risk_` is then tested in other splits.
        time : array or name of a column of X, optional
            When each row was observed, as in `estimate_risk`.
        block : array, frame or names of columns of X, optional
            Where each row was observed, as in `estimate_risk`.
        **params
            Fit parameters of the estimator. ``sample_weight`` also weights the risks, and may name
            a column of X.

        Returns
        -------
        HonestSearchCV
            The fitted search.
        """
        self._delete_results()
        if takes_environment(self.estimator):
            bound = copy(self)
            bound.estimator, X, y = bind_environment(self.estimator, X, y, self.scoring)
            bound.fit(X, y, groups=groups, time=time, block=block, **params)
            for attribute_name, attribute_value in vars(bound).items():
                if attribute_name.endswith("_"):
                    setattr(self, attribute_name, attribute_value)
            return self
        check_parameters(self)
        fit_arguments = sort_fit_arguments(self, X, groups, params, time, block)
        try:
            # Callbacks follow this search, or a model that contains it.
            if not vars(self).keys().isdisjoint(("_skl_callbacks", "_parent_callback_ctx")):
                fit_with_callbacks = load_from_search("fit-with-callbacks")
                fit_with_callbacks(self, self._fit_and_estimate, y, fit_arguments)
            else:
                self._fit_and_estimate(y, fit_arguments)
        except BaseException:
            # Delete earlier results first, so that they do not remain if this fit fails.
            self._delete_results()
            raise
        if self.checks:
            warn_of_findings(self.findings_)
        return self

    def _fit_and_estimate(
        self, y: Any, fit_arguments: FitArguments, tasks: SearchTasks = NO_TASKS
    ) -> Self:
        self.row_columns_ = fit_arguments.names
        is_alone = self.param_grid is None and self.n_iter is None
        if is_alone and has_best_params(self.estimator):
            fitted_attributes = load_from_search("fit-given")(self, y, fit_arguments, tasks)
            if fitted_attributes is not None:
                for attribute_name, attribute_value in fitted_attributes.items():
                    setattr(self, attribute_name, attribute_value)
                return self
        problem, self.multimetric_ = problem_from_search(self, y, fit_arguments)
        tuning_method, testing_method = problem.tuning_method, problem.testing_method
        assert tuning_method is not None
        respects_time_order = tuning_method.goes_forward and (
            testing_method is None or testing_method.goes_forward
        )
        problem = with_checks(problem, self.checks, goes_forward=respects_time_order)
        # Check this before the fits of the search, which may not need such a large matrix.
        if self.refit:
            refuse_too_large(problem.family, problem.data)
        check_racing_options(
            tuning_method, self.error_score, return_train_score=self.return_train_score
        )
        training_score_option = {"trained": self.return_train_score}
        problems_by_name = {problem.family.name: problem}
        with (
            reuse_connections(),
            open_store(self.store, problems_by_name, kind="search") as stored_search,
        ):
            fit_store, timed_search = (
                None if stored_search is None else stored_search.fit_store,
                None,
            )
            with tasks.follow("search", problem, tuning_method):
                if self.time_limit is not None:
                    try_in_time, refit_option = (
                        load_from_search("try-in-time"),
                        {"refit": bool(self.refit)},
                    )
                    with suppress_fit_warnings(self.error_score):
                        timed_search = try_in_time(
                            problem,
                            self.time_limit,
                            stored_search,
                            **refit_option,
                            **training_score_option,
                        )
                    problem = timed_search.problem
                with stage("tuning"):
                    tuning_run, results = rate_settings(
                        problem,
                        error_score=self.error_score,
                        has_several_scores=self.multimetric_,
                        known=() if timed_search is None else timed_search.tuning_answers,
                        fit_store=fit_store,
                        **training_score_option,
                    )
                    tuning_run = (
                        tuning_run
                        if timed_search is None
                        else timed_search.complete_tuning_run(tuning_run)
                    )
            print_fits(tuning_run, results, self.verbose)
            self._store_selection(tuning_run, results)
            if stored_search is not None:
                stored_search.warn_if_no_fit_matches()
            if testing_method is not None:
                with stage("honest risk"), tasks.follow("honest-risk", problem, testing_method):
                    known_answers = (
                        [tuning_run.answers]
                        if timed_search is None
                        else timed_search.known_answers(tuning_run)
                    )
                    calibrated_problem = replace(problem, uses_calibrated_interval=True)
                    testing_run = compute_risks(
                        calibrated_problem, testing_method, known=known_answers, fit_store=fit_store
                    )
                    testing_run = (
                        testing_run
                        if timed_search is None
                        else timed_search.complete_testing_run(testing_run)
                    )
                    self._store_risk(problem, tuning_run, testing_run)
            findings = [*problem.findings]
            if testing_method is not None:
                findings += all_findings(self.risk_)
            findings += all_findings(self.selected_risk_)
            self.findings_ = tuple(dict.fromkeys(findings))
            if stored_search is not None:
                self.kept_ = stored_search.fit_counts
        if self.refit:
            start_time = perf_counter()
            refit_context = tasks.fit_context("refit-with-best-params")
            self.best_estimator_ = problem.fit_candidate(self.best_index_, refit_context)
            self.refit_time_ = perf_counter() - start_time
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_
        self.n_splits_ = tuning_run.plan.n_questions
        return self

    def _delete_results(self) -> None:
        """Delete the results of an earlier fit, since a later fit may not compute all of them."""
        for attribute_name in list(vars(self)):
            if attribute_name.endswith("_") and not attribute_name.startswith("__"):
                delattr(self, attribute_name)

    def _store_selection(self, tuning_run: Computation, results: dict[str, Any]) -> None:
        risk_curve, problem = to_risk_curve(tuning_run), tuning_run.problem
        if callable(self.refit):
            risk_curve = choose_by_function(self.refit, risk_curve, results)
        self.curve_ = risk_curve
        self.loss_ = problem.loss
        self.best_index_ = risk_curve.best
        self.best_params_ = risk_curve.best_params
        chosen_risk = risk_curve[risk_curve.best]
        # A requested interval already accounts for the choice, so only other risks are marked.
        if len(risk_curve) > 1 and problem.interval is None:
            chosen_risk = replace(chosen_risk, best_of=len(risk_curve))
        self.selected_risk_ = chosen_risk
        # A callable `refit` may choose another candidate than the one with the best score.
        if not callable(self.refit):
            chosen_value = _require_value(chosen_risk, "the only candidate has a failed fit")
            is_score = chosen_risk.greater_is_better
            self.best_score_ = chosen_value if is_score else float(problem.loss.score(chosen_value))
        self.cv_results_ = results
        classes = problem.data.classes
        self.scorer_ = LossScorer(problem.loss, classes)
        if self.multimetric_:
            self.scorer_ = {
                score_name: LossScorer(loss, classes)
                for score_name, loss in problem.losses_by_name.items()
            }

    def _store_risk(
        self, problem: EstimationProblem, tuning_run: Computation, testing_run: Computation
    ) -> None:
        procedure_estimate = to_procedure_estimate(testing_run)
        # There is a risk, because the method tests a procedure.
        assert procedure_estimate is not None
        _require_value(procedure_estimate, "a chosen candidate has a failed fit in an outer split")
        untuned_comparison = compare_with_untuned(
            problem, tuning_run, self.curve_, testing_run, procedure_estimate
        )
        risk_notes = procedure_estimate.notes
        if len(self.curve_) > 1:
            procedure_note = (
                f"risk of the whole procedure (choose among {len(self.curve_)} settings, then fit)"
            )
            first_notes = (f"{procedure_note}, not of one setting", *risk_notes[:1])
            if untuned_comparison is not None and untuned_comparison.is_untuned_sufficient(
                self.confidence_level
            ):
                first_notes = (*first_notes, f"tuning is not shown to help: {untuned_comparison}")
            risk_notes = (*first_notes, *risk_notes[1:])
        self.risk_ = replace(procedure_estimate, notes=risk_notes)
        self.scores_ = dict(procedure_estimate.scores)
        chosen_risk = self.selected_risk_
        is_comparable = (
            chosen_risk.scoring == procedure_estimate.scoring
            and chosen_risk.pooled == procedure_estimate.pooled
        )
        score_optimism = procedure_estimate.scale.compute_optimism(
            procedure_estimate.value, chosen_risk.value
        )
        self.optimism_ = score_optimism if is_comparable and len(self.curve_) > 1 else None
        self.outer_ = outer_folds(problem, testing_run)
        self.stability_ = choice_stability(self.outer_, self.best_index_, problem.family)

    def to_metrics(self) -> dict[str, float]:
        """Return the numbers of `risk_`, the selected risk and the optimism by name.

        Returns
        -------
        dict of str to float
            The numbers by name, as a tracker such as MLflow takes them.
        """
        metrics_by_name: dict[str, Any] = {**self.risk_.to_metrics(), "optimism": self.optimism_}
        if self.optimism_ is not None:
            metrics_by_name["selected"] = self.selected_risk_.value
        return plain_values.extract_metrics(metrics_by_name)

    # -- scikit-learn -------------------------------------------------------------------------

    def _repr_html_inner(self) -> str:
        """Return the notebook view: findings, honest risk if known, and scikit-learn's diagram."""
        diagram: str = super()._repr_html_inner()
        attributes = vars(self)
        finding_rows = [
            [finding.severity, finding.sentence, finding.remedy]
            for finding in attributes.get("findings_", ())
        ]
        if finding_rows:
            column_names = ["severity", "what", "what to do"]
            diagram = tables.Block("Findings", column_names, finding_rows).html + diagram
        if "risk_" not in attributes:
            return diagram
        labelled_risks = [("honest", risk) for risk in (self.risk_, *self.scores_.values())]
        if "selected_risk_" in attributes:
            labelled_risks.append(("selected, which flatters:", self.selected_risk_))
        risk_rows = []
        for label, risk in labelled_risks:
            row_name = f"{label} {risk.scale.name_for(risk.named_scoring)}"
            risk_rows.append(
                [row_name, formats.format_risk(risk.value), str(risk.interval or "none")]
            )
        caption = "What to report is the honest risk of the whole search."
        return tables.Block(caption, ["", "value", "interval"], risk_rows).html + diagram

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        mime_bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        return mime_bundle | (
            {"text/html": self._repr_html_inner()} if "text/html" in mime_bundle else {}
        )

    def get_metadata_routing(self) -> Any:
        """Return the routing of metadata to the estimator's fit and to a splitter's split.

        Returns
        -------
        MetadataRouter
            The routing, as scikit-learn's metadata routing expects it.
        """
        return build_metadata_router(self)


def _require_value(estimate: RiskEstimate, failure_message: str) -> float:
    """Return the value of an estimate; raise Refusal if it has none because a fit failed."""
    if estimate.value is None:
        failure_note = next((note for note in estimate.notes if "failed" in note), "")
        raise Refusal(f"{failure_message}, so there is no risk. {failure_note}".strip())
    return estimate.value
