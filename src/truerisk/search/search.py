"""`HonestSearchCV`: GridSearchCV's model and attributes, plus the honest risk of the choice."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin

from truerisk.contracts import Fits
from truerisk.core import formats, plain_values, tables
from truerisk.core.arguments import refuse_old_names, refuses_old_names
from truerisk.core.errors import Refusal
from truerisk.core.family import has_best_params
from truerisk.core.progress import shows_progress, stage
from truerisk.engines.running.doors import refuse_too_large
from truerisk.engines.running.executors import connections_kept
from truerisk.estimation.outer_splits import OuterFold, Stability, outer_folds, stability_of
from truerisk.estimation.problem import Problem, with_checks
from truerisk.estimation.run import Computed, compute, curve_of, procedure_of
from truerisk.results.finding import warn_of_findings
from truerisk.results.results import RiskCurve, RiskEstimate, all_findings
from truerisk.search.as_given import as_given
from truerisk.search.cv_results import chosen_by, own_warning, rate_settings, say_fits
from truerisk.search.door import load_part, open_store
from truerisk.search.search_problem import (
    Routed,
    check_race,
    check_words,
    problem_of_search,
    route,
    router,
)
from truerisk.search.tuned_model import LossScorer, Missing, TunedModel

_NO_OUTER = ("outer=None", "leaves the honest risk out", "outer='10-fold'")
_NO_REFIT = ("refit=False", "fits no model on all rows", "refit=True")


class HonestSearchCV(TunedModel, MetaEstimatorMixin, BaseEstimator):
    r"""Grid search that also says how wrong the tuned model is.

    The score that a search maximised is the best of many noisy numbers and flatters.
    `HonestSearchCV` chooses a setting as GridSearchCV does (splits `cv`, rule `rule`),
    refits it on all rows, and estimates the risk of *choosing and fitting* by doing both again
    where some rows are left out (nested, or double, cross-validation). By default these are the
    pairs of the folds that it chooses by: C settings and K folds take C K(K+1)/2 fits.

    Parameters
    ----------
    estimator : estimator
        The learner to tune; any classifier, regressor or pipeline. Without `param_grid` also a
        search that adapts (HalvingGridSearchCV, OptunaSearchCV, BayesSearchCV, whatever class
        sets ``best_params_``): a fresh clone of it is fitted in every outer split.
    param_grid : dict or list of dicts, optional
        As for GridSearchCV; the order is kept. With `n_iter` distributions with ``rvs``, lists, or
        functions of a numpy Generator. By default the estimator is taken as it stands.
    cv : int, str, Method, splitter or iterable, optional
        How settings are compared: what GridSearchCV takes, of which a number means folds that are
        not shuffled, stratified for classifiers, or a word of ``tr.methods.names()``. By default
        "5-fold"; "forward-5" where `fit` is given times, "blocks-5" where it is given places. Folds
        are averaged as GridSearchCV does; a Method averages as it says.
    scoring : str, callable, Loss, or a list or dict of them, optional
        What chooses and is told: a name or scorer of scikit-learn, a word of
        ``tr.losses.names()``, a Loss, or a function of (y_true, y_pred) that gives a loss for each
        row or one for all. Of several the first one chooses, unless `refit` names another; the
        others are in `scores_`. By default the zero-one loss of classifiers and the squared loss of
        regressors.
    n_jobs : None, int, str or executor
        Where scikit-learn's fits run: in this process; in so many worker processes, -1 for one per
        core; on "dask://host:port" or a Client of Dask; or on anything with ``submit``. Fast
        engines answer in this process.
    n_iter : int, optional
        How many settings are drawn, once, from a stream of `random_state` of their own; with a
        number, a splitter or splits as `cv` they are those of RandomizedSearchCV with this seed.
    rule : str or Rule, default="min"
        "min" or "1-se". Risks within 1e-12 are ties; the first in grid order wins.
    outer : str, int, Method, splitter, iterable or None, default="pairs"
        How the risk of the procedure is estimated: "pairs", the folds of `cv` left out alone
        and two at a time (the usual method where it has none, and `cv` itself where it keeps
        to the order of time), or the outer splits of nested validation, inside which the folds are
        drawn anew. None leaves `risk_` out.
    positive : label, optional
        The class that scores of one class, such as F1, speak of: by default the greater of two
        labels, as in scikit-learn. Results name it.
    refit : bool, str or callable, default=True
        Fit the chosen setting on all rows. A name is that of the score that chooses, of several. A
        function of `cv_results_` chooses it by its number (only with ``outer=None``, since outer
        splits choose by `rule`).
    random_state : int, None or Generator, default=0
        Of the folds, and of models that leave their own ``random_state`` at None.
    engine : str or Engine, default="auto"
        Which engine answers.
    interval : str, optional
        Which interval `risk_` gets, a word of ``tr.intervals.names()``; by default the calibrated
        one ("beta-cv", or "log-cv" for losses without a bound) where `outer` is a K-fold, else that
        of `outer`. "bbc" also gives `selected_risk_` one that counts the choice.
    confidence_level : float, default=0.95
        Of the intervals.
    error_score : "raise" or float, default="raise"
        The score of a failing fit. NaN leaves out the settings that it belongs to.
    return_train_score : bool, default=False
        Whether `cv_results_` has the scores on the rows of the fits themselves.
    verbose : int, default=0
        1 prints how many fits there are, 2 a line for each, 3 its score as well.
    time_limit : float, optional
        Seconds after which no further fit of the search begins. Settings are tried in grid order,
        each completely; the risks are those of choosing among the ones that were tried.
    store : path, optional
        A file that keeps every fit as it ends. The same search, run again after a crash, makes only
        the fits that the file lacks. (Engines that answer all settings at once keep none.)

    Attributes
    ----------
    risk_ : RiskEstimate
        The honest risk of the whole procedure.
    selected_risk_ : RiskEstimate
        The risk, or score, of the setting that was chosen: the flattering number.
    optimism_ : float or None
        By how much `selected_risk_` is better than `risk_`; positive when the search flatters.
        None where the two are in different losses (a search by AIC), and where one setting left no
        choice.
    scores_ : dict of RiskEstimate
        The honest risk of the procedure in each further score of `scoring`.
    outer_ : tuple of OuterFold
        Per outer split: chosen `params`, sizes, and `risk` and `inner_risk` on the scale of
        `scoring`.
    stability_ : Stability
        How often the outer splits chose what was chosen on all rows.
    curve_ : RiskCurve
        The risk of every candidate on all rows.
    search_ : estimator
        The search that was given in the place of a grid, fitted on all rows; `outer_`,
        `stability_` and `curve_` are then missing.
    findings_ : tuple of Finding
        Findings of the checks, each with `code`, `sentence`, `remedy` and `severity`. They also
        stand in ``risk_.findings``, in ``risk_.notes`` and in one warning.
    kept_ : Fits
        How many fits the `store` had, and how many were added to it.
    row_columns_ : tuple of str
        The columns of X that `fit` was given by name as groups, times, places or weights. They are
        no features: methods such as `predict` leave them out of a frame that has them.
        `best_estimator_` is given frames without them.
    best_estimator_, best_params_, best_index_, best_score_, cv_results_, scorer_, refit_time_
        As GridSearchCV has them; scores are ``1 - risk`` for zero-one loss, ``-risk`` for squared.

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

    risk_ = Missing[RiskEstimate](*_NO_OUTER)
    optimism_ = Missing[float | None](*_NO_OUTER)
    outer_ = Missing[tuple[OuterFold, ...]](*_NO_OUTER, of_grid=True)
    scores_ = Missing[dict[str, RiskEstimate]](*_NO_OUTER)
    stability_ = Missing[Stability](*_NO_OUTER, of_grid=True)
    curve_ = Missing[RiskCurve](*_NO_OUTER, of_grid=True)
    best_estimator_ = Missing[Any](*_NO_REFIT)
    kept_ = Missing[Fits]("store=None", "keeps no fits", "store='search.db'")

    copies_as_groups = True  # inside a bootstrap sample, `fit` is given its rows as groups
    _is_honest_search = True  # by this mark lower packages know it

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
        """Set parameters as scikit-learn does; refuse their old names."""
        refuse_old_names(params, self.get_params(deep=False))
        return super().set_params(**params)

    @shows_progress
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
        """Choose a setting, refit it, and estimate the risk of doing so.

        `groups` and fit parameters (such as ``sample_weight``) reach both loops, with and
        without scikit-learn's metadata routing; ``sample_weight`` also weights the risks.
        `time` and `block` say when and where rows were taken, as in `estimate_risk`. `groups`,
        `time`, `block` and ``sample_weight`` may name columns of the frame X, which are then no
        features: `predict` takes frames with and without them.
        """
        self._forget()
        check_words(self)
        routed = route(self, X, groups, params, time, block)
        try:
            fitted = self._fitted(y, routed)
        except BaseException:
            self._forget()  # a failed fit leaves nothing of an earlier one
            raise
        if self.checks:
            warn_of_findings(self.findings_)
        return fitted

    def _fitted(self, y: Any, routed: Routed) -> Self:
        self.row_columns_ = routed.names
        is_alone = self.param_grid is None and self.n_iter is None
        if is_alone and has_best_params(self.estimator):
            attributes = load_part("fit-given")(self, y, routed)
            if attributes is not None:
                for name, value in attributes.items():
                    setattr(self, name, value)
                return self
        problem, self.multimetric_ = problem_of_search(self, y, routed)
        select_by, testing = problem.select_by, problem.testing
        assert select_by is not None
        forward = select_by.goes_forward and (testing is None or testing.goes_forward)
        problem = with_checks(problem, self.checks, forward=forward)
        if self.refit:  # known before the fits of the search, which may need no such matrix
            refuse_too_large(problem.family, problem.data)
        check_race(select_by, self.error_score, return_train_score=self.return_train_score)
        trained = {"trained": self.return_train_score}
        named = {problem.family.name: problem}
        with connections_kept(), open_store(self.store, named, kind="search") as stored:
            keeper, tried = None if stored is None else stored.keeper, None
            if self.time_limit is not None:
                try_in_time, limits = load_part("try-in-time"), {"refit": bool(self.refit)}
                with own_warning(self.error_score):
                    tried = try_in_time(problem, self.time_limit, stored, **limits, **trained)
                problem = tried.problem
            with stage("tuning"):
                selected, results = rate_settings(
                    problem,
                    error_score=self.error_score,
                    several=self.multimetric_,
                    known=() if tried is None else tried.tuning,
                    keeper=keeper,
                    **trained,
                )
                selected = selected if tried is None else tried.tuned(selected)
                say_fits(selected, results, self.verbose)
                self._keep_selection(selected, results)
            if stored is not None:
                stored.warn_of_another()
            if testing is not None:
                with stage("honest risk"):
                    known = [selected.answers] if tried is None else tried.known_answers(selected)
                    asked = replace(problem, calibrated=True)
                    tested = compute(asked, testing, known=known, keeper=keeper)
                    tested = tested if tried is None else tried.tested(tested)
                    self._keep_risk(problem, selected, tested)
            found = [*problem.findings]
            if testing is not None:
                found += all_findings(self.risk_)
            found += all_findings(self.selected_risk_)
            self.findings_ = tuple(dict.fromkeys(found))
            if stored is not None:
                self.kept_ = stored.fits
        if self.refit:
            started = perf_counter()
            self.best_estimator_ = problem.fitted(self.best_index_)
            self.refit_time_ = perf_counter() - started
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_
        self.n_splits_ = selected.plan.n_questions
        return self

    def _forget(self) -> None:
        """Drop what an earlier fit found: a later one may not find it again."""
        for name in list(vars(self)):
            if name.endswith("_") and not name.startswith("__"):
                delattr(self, name)

    def _keep_selection(self, selected: Computed, results: dict[str, Any]) -> None:
        curve, problem = curve_of(selected), selected.problem
        if callable(self.refit):
            curve = chosen_by(self.refit, curve, results)
        self.curve_ = curve
        self.loss_ = problem.loss
        self.best_index_ = curve.best
        self.best_params_ = curve.best_params
        chosen = curve[curve.best]
        if len(curve) > 1 and problem.interval is None:  # the only one here counts the choice
            chosen = replace(chosen, best_of=len(curve))
        self.selected_risk_ = chosen
        if not callable(self.refit):  # a callable need not choose the best score
            value = _value_of(chosen, "the only candidate has a failed fit")
            is_score = chosen.greater_is_better
            self.best_score_ = value if is_score else float(problem.loss.score(value))
        self.cv_results_ = results
        classes = problem.data.classes
        self.scorer_ = LossScorer(problem.loss, classes)
        if self.multimetric_:
            self.scorer_ = {n: LossScorer(loss, classes) for n, loss in problem.by_name.items()}

    def _keep_risk(self, problem: Problem, selected: Computed, tested: Computed) -> None:
        procedure = procedure_of(tested)
        assert procedure is not None  # the method tests a procedure, so it has a risk
        _value_of(procedure, "a chosen candidate has a failed fit in an outer split")
        usual_setting = as_given(problem, selected, self.curve_, tested, procedure)
        notes = procedure.notes
        if len(self.curve_) > 1:
            what = f"risk of the procedure: choose among {len(self.curve_)} settings, then fit"
            first = (f"{what}; not of one setting", *notes[:1])
            if usual_setting is not None and usual_setting.suffices(self.confidence_level):
                first = (*first, f"tuning is not shown to help: {usual_setting}")
            notes = (*first, *notes[1:])
        self.risk_ = replace(procedure, notes=notes)
        self.scores_ = dict(procedure.scores)
        chosen = self.selected_risk_
        comparable = chosen.scoring == procedure.scoring and chosen.pooled == procedure.pooled
        gap = procedure.scale.optimism_of(procedure.value, chosen.value)
        self.optimism_ = gap if comparable and len(self.curve_) > 1 else None
        self.outer_ = outer_folds(problem, tested)
        self.stability_ = stability_of(self.outer_, self.best_index_, problem.family)

    def to_metrics(self) -> dict[str, float]:
        """Those of `risk_` by name, with the selected risk and the optimism, for a tracker."""
        numbers: dict[str, Any] = {**self.risk_.to_metrics(), "optimism": self.optimism_}
        if self.optimism_ is not None:
            numbers["selected"] = self.selected_risk_.value
        return plain_values.metrics_of(numbers)

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Refuse callbacks of scikit-learn, which are not supported yet.

        Parameters
        ----------
        *callbacks : callbacks
            None of them resets callbacks that were never set.

        Returns
        -------
        HonestSearchCV
            The search itself, if no callback is given.

        Raises
        ------
        Refusal
            If a callback is given.
        """
        if callbacks:
            raise Refusal(
                "HonestSearchCV takes no callbacks of scikit-learn yet: set them on the estimator "
                "that it tunes, and they follow each of its fits; progress is shown by itself, or "
                "with the environment variable TRUERISK_PROGRESS=1."
            )
        return self

    # -- scikit-learn -------------------------------------------------------------------------

    def _repr_html_inner(self) -> str:
        """In a notebook the honest risk, once it is there, stands above scikit-learn's diagram."""
        diagram: str = super()._repr_html_inner()
        fitted = vars(self)
        found = [[f.severity, f.sentence, f.remedy] for f in fitted.get("findings_", ())]
        if found:
            head = ["severity", "what", "what to do"]
            diagram = tables.Block("Findings", head, found).html + diagram
        if "risk_" not in fitted:
            return diagram
        shown = [("honest", risk) for risk in (self.risk_, *self.scores_.values())]
        if "selected_risk_" in fitted:
            shown.append(("selected, which flatters:", self.selected_risk_))
        rows = []
        for word, risk in shown:
            name = f"{word} {risk.scale.of(risk.named_scoring)}"
            rows.append([name, formats.risk(risk.value), str(risk.interval or "none")])
        caption = "What to report is the honest risk of the whole search."
        return tables.Block(caption, ["", "value", "interval"], rows).html + diagram

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        return bundle | ({"text/html": self._repr_html_inner()} if "text/html" in bundle else {})

    def get_metadata_routing(self) -> Any:
        """How metadata are routed: to the estimator's fit and to a splitter's split."""
        return router(self)


def _value_of(estimate: RiskEstimate, otherwise: str) -> float:
    """Return the value of an estimate; refuse one that a failed fit left without a value."""
    if estimate.value is None:
        failure = next((note for note in estimate.notes if "failed" in note), "")
        raise Refusal(f"{otherwise}, so there is no risk. {failure}".strip())
    return estimate.value
