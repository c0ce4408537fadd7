"""A search, or a model, and its rows as a run: the checked data and what was asked for on them."""

from __future__ import annotations

import time
from copy import copy
from dataclasses import dataclass, replace
from inspect import Parameter, signature
from math import inf
from typing import Any

from sklearn.utils.validation import has_fit_parameter

from truerisk.core.errors import BadData, Refusal
from truerisk.core.family import Family, refuse_no_tags
from truerisk.core.identity import is_honest_search
from truerisk.data.data import Data, TaskWord, take_named_columns
from truerisk.engines.running.fitting import fitted_on_all
from truerisk.estimation.outer_splits import usual_word
from truerisk.estimation.problem import (
    Problem,
    as_seed,
    params_branch,
    pose,
    problem_on,
    refuse_unrated_class,
    settings_seed,
)
from truerisk.estimation.run import Run, blank_estimate
from truerisk.losses.loss import Loss
from truerisk.losses.loss_words import are_several, as_loss
from truerisk.methods.pairs import Pairs, testing_method
from truerisk.methods.parts.procedure import nested
from truerisk.methods.words import as_method, is_of_scikit_learn
from truerisk.models.stated.question import tunes_inside
from truerisk.results.results import RiskEstimate
from truerisk.search.claim import Claim, by_function
from truerisk.search.own_claim import as_risk
from truerisk.search.repeat import with_groups
from truerisk.search.search_words import (
    Words,
    check_chooser,
    compared_by,
    engine_for,
    makes_predictions,
    words_of,
    words_of_given,
)
from truerisk.search.tuned_model import TunedModel


def run_of_search(search: Any, X: Any, y: Any, routed: Routed) -> tuple[Run, bool]:
    """The run of a search, and whether its `scoring` asks for several scores.

    `n_iter` settings are drawn once, before a row is seen; where GridSearchCV's word `cv` is spoken
    they are those of RandomizedSearchCV with this seed.
    """
    words = words_of(search)
    seed = as_seed(search.random_state)  # asked once, since a Generator draws another each time
    model, grid = search.estimator, search.param_grid
    if search.n_iter is None:
        family = Family.of(model, grid)
    else:
        drawn_as = settings_seed(seed, plain=is_of_scikit_learn(search.cv))
        family = Family.drawn(model, grid, search.n_iter, drawn_as)
    X, routed, _ = routed.looked_up(X, model)
    scored = words.chosen is not None and not makes_predictions(model)
    weights = {"sample_weight": routed.sample_weight}
    task: TaskWord = "other" if scored else family.task
    own = family.takes_y_as_given
    data = Data.check(X, y, task=task, as_given=own, **routed.of_rows, **weights)
    function = search.scoring
    if callable(function) and (each := by_function(function, data)):
        check_chooser(search.refit, each)
        words = replace(words, scoring=each)
    several = are_several(words.scoring)
    problem = problem_of(search, data, family, words, fit_params=routed.fit, seed=seed, **weights)
    refuse_unrated_class(problem)
    usual = usual_word(data)
    select_by, testing = compared_by(search, usual), None
    if search.outer is not None:
        testing = testing_method(search.outer, select_by, usual)
    return Run(problem, select_by, testing), several


def problem_of(
    search: Any, data: Data, family: Family, words: Words, *, seed: int, **fit_options: Any
) -> Problem:
    """What a search asks of a family on checked rows, with weights and fit parameters."""
    return problem_on(
        data,
        family,
        scoring=words.scoring,
        chooser=words.chooser,
        positive=search.positive,
        rule=search.rule,
        interval=search.interval,
        confidence_level=search.confidence_level,
        engine=engine_for(search.engine, search.error_score, search.outer),
        n_jobs=words.n_jobs,
        random_state=seed,
        **fit_options,
    )


def run_of(
    searched: Any,
    X: Any,
    y: Any,
    groups: Any,
    params: dict[str, Any],
    *,
    random_state: Any = 0,
    **order: Any,
) -> Run:
    """The run of a search of ours by its own words, of any other model by pairs of its usual folds.

    `order` are times and places of the rows; where there are any, splits keep rows apart by them. A
    model that tunes inside its own fit, as searches of other libraries do, is tested by folds.
    """
    if is_honest_search(searched):
        run, _ = run_of_search(searched, X, y, route(searched, groups, params, **order))
        if searched.param_grid is None and tunes_inside(run.problem.family):
            raise Refusal(
                f"{run.problem.family.name} tunes inside its own fit: give it as it is, without "
                "HonestSearchCV around it."
            )
        return run
    weight = params.pop("sample_weight", None)
    if params:
        raise Refusal(
            f"{', '.join(params)}: fit parameters go to a HonestSearchCV; of another model "
            "only sample_weight is known."
        )
    rows = {"groups": groups, "sample_weight": weight, **order}
    problem = pose(Family.of(searched), X, y, random_state=random_state, is_event=True, **rows)
    usual = usual_word(problem.data)
    in_pairs = not problem.data.dependent and not tunes_inside(problem.family)
    return Run(problem, as_method(usual), Pairs() if in_pairs else nested(usual, usual))


@dataclass(frozen=True)
class Routed:
    """What goes where."""

    groups: Any
    sample_weight: Any
    fit: dict[str, Any]
    time: Any = None
    block: Any = None

    @property
    def of_rows(self) -> dict[str, Any]:
        """What says which rows belong together, and which come after others."""
        return {"groups": self.groups, "time": self.time, "block": self.block}

    def looked_up(self, X: Any, model: Any) -> tuple[Any, Routed, tuple[str, ...]]:
        """Look up named columns of X; also return X without them, and their names."""
        given = {**self.of_rows, "sample_weight": self.sample_weight}
        X, found, names = take_named_columns(X, given, models=[model])
        return X, replace(self, **found) if names else self, names


def route(
    search: Any, groups: Any, params: dict[str, Any], time: Any = None, block: Any = None
) -> Routed:
    """Split what `fit` was given into groups, the row weight, and other fit parameters.

    Times and places are the search's own: no estimator and no splitter is handed them.
    """
    from sklearn import get_config

    fit_params = {name: value for name, value in params.items() if value is not None}
    if not get_config()["enable_metadata_routing"]:
        weight = fit_params.pop("sample_weight", None)
        return Routed(groups, weight, fit_params, time, block)
    from sklearn.utils.metadata_routing import process_routing

    offered = dict(fit_params) if groups is None else {**fit_params, "groups": groups}
    if not offered:
        return Routed(None, None, {}, time, block)
    routed = process_routing(search, "fit", **offered)
    fit = dict(routed.estimator.fit)
    weight = fit.pop("sample_weight", None)
    return Routed(groups, weight, fit, time, block)


def router(search: Any) -> Any:
    """`fit` hands fit parameters to the estimator, and groups to both splitting loops."""
    from sklearn.utils.metadata_routing import MetadataRequest, MetadataRouter, MethodMapping

    own = MetadataRequest(owner=type(search).__name__)
    for name in ("time", "block"):
        own.fit.add_request(param=name, alias=True)
    mapped = MetadataRouter(owner=type(search).__name__).add(
        estimator=search.estimator,
        method_mapping=MethodMapping().add(caller="fit", callee="fit"),
    )
    mapped.add_self_request(own)
    for name in ("cv", "outer"):
        mapped.add(
            **{name: _splitter_request(getattr(search, name))},
            method_mapping=MethodMapping().add(caller="fit", callee="split"),
        )
    return mapped


def _splitter_request(method: Any) -> Any:
    """A splitter says itself what it takes; words and methods of ours take groups."""
    if hasattr(method, "get_metadata_routing"):
        return method
    from sklearn.utils.metadata_routing import MetadataRequest

    request = MetadataRequest(owner="truerisk method")
    request.split.add_request(param="groups", alias=True)
    return request


@dataclass
class SearchRows:
    """The checked rows, and what every fit of the search is given besides."""

    family: Family
    data: Data
    seed: int
    fit_options: dict[str, Any]
    seconds: float = 0.0

    @classmethod
    def of(cls, search: Any, X: Any, y: Any, routed: Routed) -> SearchRows:
        from sklearn import get_config

        family = Family.of(search.estimator)
        refuse_no_tags(search.estimator)
        X, routed, _ = routed.looked_up(X, search.estimator)
        weight = routed.sample_weight
        try:
            task: TaskWord = family.task
        except BadData:  # a density, say, is searched by its own score
            task = "other"
        data = Data.check(X, y, task=task, **routed.of_rows, sample_weight=weight)
        params = dict(routed.fit)
        if not get_config()["enable_metadata_routing"]:  # which hands them on itself
            _refuse_groups(search.estimator, routed.groups)
            params = with_groups(params, data.groups)
        fit_options = {"sample_weight": weight, "fit_params": params}
        return cls(family, data, as_seed(search.random_state), fit_options)

    def problem(self, search: Any, words: Words) -> Problem:
        """The whole search as one learner, and what is asked of it."""
        return problem_of(search, self.data, self.family, words, seed=self.seed, **self.fit_options)

    def fitted(self) -> Any:
        """A clone that searched all rows."""
        model, started = self.family.estimator, time.perf_counter()
        params = self.fit_options["fit_params"]
        if self.fit_options["sample_weight"] is not None:
            params = params_branch().fit_params_with_weight(model, **self.fit_options)
        seed = (self.seed, 0) if self.family.is_random else None
        fitted = fitted_on_all(self.family, 0, self.data.for_fits(params, self.data.as_given), seed)
        self.seconds = time.perf_counter() - started
        return fitted


def problem_and_loss(
    search: Any, rows: SearchRows, claim: Claim | None, fitted: Any
) -> tuple[Problem, Loss | None]:
    """The whole search as one learner, and the loss behind its own score.

    The honest risk is told in that loss where none was asked for.
    """
    data = rows.data
    words = words_of_given(search, claim, fitted)
    own = None
    if claim is not None:
        plain = copy(search)
        plain.scoring = None
        own = as_loss(words_of_given(plain, claim, fitted).chosen, data)
    return refuse_unrated_class(rows.problem(search, words)), own


def _refuse_groups(search: Any, groups: Any) -> None:
    """A search that takes no groups would cut them in its own splits."""
    if groups is None or has_fit_parameter(search, "groups"):
        return
    parameters = signature(search.fit).parameters.values()
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        return
    raise Refusal(
        f"{type(search).__name__}.fit takes no groups, so that its own splits would cut them, and "
        "its choice would rest on rows that it has seen: use a search that takes groups."
    )


def selected_risk(
    problem: Problem, own: Loss | None, claim: Claim | None, fitted: Any, seconds: float
) -> RiskEstimate:
    """Its best score, in the words of the honest risk where that is of the same score."""
    like = _papers(problem, fitted, seconds)
    if claim is None:
        kind = type(fitted).__name__
        note = f"best_score_: in which score that is, {kind} does not say"
        value = float(fitted.best_score_)
        return replace(
            like, value=value, scoring="best_score_", notes=(note,), perfect=inf, positive=None
        )
    claimed = as_risk(claim, problem.data, like)
    loss = problem.loss
    label = loss.label(problem.data)
    if own is None or (own.word, own.perfect) != (loss.word, loss.perfect):
        return claimed
    if own.label(problem.data) != label:
        return replace(claimed, positive=own.label(problem.data))
    return claimed.on_scale(like.scale, scoring=loss.word, positive=label)


def _papers(problem: Problem, fitted: Any, seconds: float) -> RiskEstimate:
    """What is said of a score that the search itself found on all rows."""
    data, loss = problem.data, problem.loss
    return blank_estimate(
        data,
        loss,
        method=f"{type(fitted).__name__}: best_score_",
        target="Err",
        bias="optimistic: the best of several scores",
        params=dict(fitted.best_params_),
        n_fits=1,
        seconds=seconds,
        engine="generic",
        seed=problem.seed,
        plan_fingerprint="",  # its splits are its own
        weighted=data.sample_weight is not None and _weighs(fitted),
    )


def _weighs(fitted: Any) -> bool:
    """Whether its scores weight the rows, as its fits do: those of older searches count rows."""
    if isinstance(fitted, TunedModel):
        return True
    from sklearn import get_config

    routed = get_config()["enable_metadata_routing"]  # where each scorer asks for itself, or not
    return hasattr(fitted, "_check_scorers_accept_sample_weight") and not routed
