"""`assess`: several tuned learners on the same splits, and what to conclude."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import Any

from truerisk.api.assessing.apparent_risk import apparent_risk
from truerisk.api.assessing.assessment import Assessment
from truerisk.api.assessing.conclusion import conclude
from truerisk.api.assessing.families import (
    by_text,
    families_of,
    ranked,
    read_learners,
    rows_for,
    task_of,
)
from truerisk.api.assessing.out_of_fold import OutOfFold, out_of_fold
from truerisk.api.assessing.own_claim import claimed_by, tunes_inside
from truerisk.api.assessing.reference_risks import as_given, constant_risk
from truerisk.api.assessing.schedule import PlannedCurve, Schedule, fits_of, planned_curves
from truerisk.api.assessing.tested_learners import Kept, risk_of_choice
from truerisk.api.assessing.tuned_learner import TunedLearner
from truerisk.api.road.fit_params import fit_params_with_weight
from truerisk.api.road.problem import Problem, as_seed, problem_on, told_by, with_words
from truerisk.api.road.run import Computed, Run, compute, curve_of
from truerisk.api.searching.stored_search import check_store
from truerisk.api.validating.chosen_learner import PlannedValidation
from truerisk.core.arguments import check_flag, shown
from truerisk.core.as_typed import as_typed
from truerisk.core.contracts import Keeper
from truerisk.core.errors import BadArgument, UnknownName, named
from truerisk.core.family import Family
from truerisk.core.present import NOTHING_CHOSEN
from truerisk.core.progress import Count, counting, stage
from truerisk.core.results import RiskCurve, RiskEstimate
from truerisk.core.table.data import Data
from truerisk.engines.running.shared_steps import beginning_alike
from truerisk.engines.running.trie import Tries
from truerisk.engines.workers.executors import workers_of
from truerisk.methods.parts.procedure import Procedure
from truerisk.methods.words import as_method

__all__ = ["Assessment", "Interrupted", "assess"]


class Interrupted(KeyboardInterrupt):
    """An assessment was stopped; `partial` holds what was done, None if nothing was."""

    def __init__(self, partial: Assessment | None, missing: Sequence[str]) -> None:
        super().__init__(f"interrupted; not assessed: {', '.join(missing)}")
        self.partial = partial
        self.missing = tuple(missing)


def assess(
    learners: Any,
    X: Any,
    y: Any,
    *,
    methods: Sequence[Any] | None = None,
    outer: Any = None,
    rule: Any = "min",
    loss: Any = None,
    scores: Any = (),
    positive: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    time: Any = None,
    block: Any = None,
    interval: str | None = None,
    confidence_level: float = 0.95,
    engine: Any = "auto",
    executor: Any = None,
    random_state: Any = 0,
    store: str | os.PathLike[str] | None = None,
    mixed_versions: bool = False,
    learning_curve: str | Sequence[str] | None = None,
    validate: bool | Mapping[str, Any] | None = None,
) -> Assessment:
    """Compare tuned learners by their honest risks, all on the same splits.

    Parameters
    ----------
    learners : dict, list of words, or None
        ``{"knn": (model, grid), "lda": model}``, or ``(model, distributions, 60)``, of which 60
        settings are drawn; words of ``tr.models.names()``; None takes the usual ones with grids
        for the size of the data. Words encode the text columns of a frame.
    X, y : table and target
    methods : sequence of methods, optional
        The first one tunes; the risk curves by the others are kept beside it in ``criteria``.
        By default "5-fold"; "holdout" above 10,000 rows; "forward-5" where times are given,
        "blocks-5" where places are.
    outer : method, optional
        The splits that test each tuned learner (nested validation). By default "pairs": the folds
        of the first method, left out alone and two at a time; the usual method where it has none.
    interval : str, optional
        Which interval the honest risks get; ``tr.intervals.names()`` lists the words.
    positive : label, optional
        The class that scores of one class, such as F1, speak of, that of the ROC curve and the
        event of `validate`: of two classes the greater label by default. Results name it.
    rule, loss, scores, groups, sample_weight, time, block, confidence_level, engine, executor,
    random_state
        As for `risk_curve`.
    store : path, optional
        A file that keeps every fit as it is found; it is made where it is not there. Run again
        with the same data and learners after an interruption or a crash, only the other fits are
        made, and the numbers are those of a run without it. Learners must have a key: parameters
        that are numbers, words, arrays, models, or classes and functions of modules.
    mixed_versions : bool
        Whether fits of other versions of truerisk, NumPy, SciPy or scikit-learn may be used.
    learning_curve : "cheap", "all" or list of learners, optional
        Measure the learning curves of the tuned learners as well, as `learning_curve` does: with
        twice the rows, expect which risk? That takes many fits. "cheap" leaves out learners that no
        engine answers together, and says so; a list names learners, whatever they take.
    validate : True or mapping, optional
        Tell what a reviewer asks of the best learner, from its answers to the same splits, as
        `validate` does: True, or words of it, such as ``{"subgroups": "sex", "positive": "ill"}``.
        Nothing is tuned for it unless ``"replicates"`` asks for bootstrap samples.

    Returns
    -------
    Assessment
        ``best``, ``risks``, ``curves``, ``table()``, ``conclusion``, ``validation``,
        ``to_html(path)``, ``to_json(path)``.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> knn = KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}
    >>> a = tr.assess({"knn": knn, "bayes": GaussianNB()}, X, y, methods=["5-fold"])
    >>> a.best
    'bayes'
    """
    if methods is not None and (not isinstance(methods, list | tuple) or not methods):
        raise BadArgument(
            f"methods={shown(methods)}: give a list of methods, of which the first one tunes, such "
            "as ['10-fold']."
        )
    methods = None if methods is None else [as_method(one) for one in methods]
    outer = None if outer is None else as_method(outer)  # an iterable of splits is read once
    check_flag("mixed_versions", mixed_versions)
    if mixed_versions and store is None:
        raise UnknownName("mixed_versions=True speaks of the fits of a store: name it, store=...")
    check_store(store, random_state)
    seed = as_seed(random_state)  # None and a Generator would draw for each learner
    named_learners = read_learners(learners, seed)
    task = task_of(named_learners, y)
    rows = {"groups": groups, "sample_weight": sample_weight, "time": time, "block": block}
    checked = Data.check(X, y, task=task, **rows)
    review = PlannedValidation.of(validate, X, checked, seed, positive)
    data = rows_for(named_learners, checked)
    asked = {
        "loss": loss,
        "scores": scores,
        "positive": positive,
        "rule": rule,
        "interval": interval,
        "confidence_level": confidence_level,
        "engine": engine,
        "executor": executor,
        "random_state": seed,
    }
    problems = {
        name: problem_on(data, family, fit_params=_weights(name, family, sample_weight), **asked)
        for name, family in families_of(named_learners, data, [*(methods or [None]), outer]).items()
    }
    first = next(iter(problems.values()))
    schedule = Schedule.draw(first, methods, outer, several=len(problems) > 1)
    given = as_typed(**rows, scores=scores or None, positive=positive, validate=validate or None)
    schedule = replace(schedule, given=given)
    problems = {
        name: with_words(replace(problem, calibrated="all"), schedule.nested, schedule.nested_plan)
        for name, problem in problems.items()
    }
    curves = planned_curves(learning_curve, problems, schedule)
    with _kept(problems, store, mixed_versions=mixed_versions) as keeper:
        found = _assess_each(_sharing_steps(problems), schedule, keeper, curves)
        return found if review is None else _validated(found, review, schedule)


def _validated(found: Assessment, review: PlannedValidation, schedule: Schedule) -> Assessment:
    """With the validation of the best learner; an interruption loses nothing but that."""
    try:
        with named(found.best):
            validated = review.of_learner(found.learners[found.best], schedule)
    except KeyboardInterrupt:
        raise Interrupted(found, ("validation",)) from None
    return replace(found, validated=validated)


def _sharing_steps(problems: Mapping[str, Problem]) -> Mapping[str, Problem]:
    """Learners behind the same steps find what the steps of the others gave."""
    alike, steps = beginning_alike({n: one.family for n, one in problems.items()}), Tries()
    return {n: replace(one, steps=steps) if n in alike else one for n, one in problems.items()}


def _weights(name: str, family: Family, sample_weight: Any) -> dict[str, Any]:
    """The weights by the parameter of the learner's fit; one without any is refused by its name."""
    with named(name):
        return fit_params_with_weight(family.estimator, sample_weight, {})


@contextmanager
def _kept(
    problems: Mapping[str, Problem], store: str | os.PathLike[str] | None, *, mixed_versions: bool
) -> Iterator[Keeper | None]:
    """What keeps the fits, where a store is given."""
    if store is None:
        yield None
        return
    from truerisk.study.keeping import keeping

    first = next(iter(problems.values()))
    with keeping(
        store,
        {name: problem.family for name, problem in problems.items()},
        scorers=[getattr(loss, "scorer", None) for loss in first.losses],
        workers=workers_of(first.executor) or 1,
        mixed_versions=mixed_versions,
    ) as keeper:
        yield keeper


def _assess_each(
    problems: Mapping[str, Problem],
    schedule: Schedule,
    keeper: Keeper | None,
    curves: Mapping[str, PlannedCurve | str],
) -> Assessment:
    """Tune all learners, then test each: what one of them refuses is known before the long part."""
    done: dict[str, TunedLearner] = {}
    total = sum(fits_of(problem, schedule) for problem in problems.values())
    total += sum(curve.n_fits for curve in curves.values() if not isinstance(curve, str))
    try:
        with counting(total) as count:
            tuned = {
                n: _tune(n, problem, schedule, count, keeper) for n, problem in problems.items()
            }
            for name, problem in problems.items():
                done[name] = _test(name, problem, schedule, tuned[name], count, keeper)
            for name, curve in curves.items():
                done[name] = _on_fewer_rows(name, done[name], curve, count, keeper)
    except KeyboardInterrupt:
        missing = (
            *(name for name in problems if name not in done),
            *(f"learning curve of {n}" for n in curves if n in done and done[n].learning is None),
        )
        partial = _concluded(done, problems, schedule, keeper, missing) if done else None
        raise Interrupted(partial, missing) from None
    return _concluded(done, problems, schedule, keeper)


def _tune(
    name: str, problem: Problem, schedule: Schedule, count: Count, keeper: Keeper | None
) -> list[Computed]:
    """The risk of every setting on all rows, by each of the methods."""
    found = []
    with named(name), stage(name), stage("tuning"):
        for method, plan in zip(schedule.methods, schedule.plans, strict=True):
            scores = told_by(method, problem.scores, problem.data)
            alone = replace(problem, interval=None, scores=scores)
            found.append(compute(alone, method, plan=plan, keeper=keeper))
            count.finish(found[-1].evaluation.n_fits)
    return found


def _test(
    name: str,
    problem: Problem,
    schedule: Schedule,
    tuned: Sequence[Computed],
    count: Count,
    keeper: Keeper | None,
) -> TunedLearner:
    """The honest risk of tuning this learner, put beside what the tuning found."""
    started = perf_counter()
    with named(name), stage(name), stage("testing"):
        run = Run(problem, schedule.methods[0], schedule.nested, tuned=tuned[0])
        run = run.test(plan=schedule.nested_plan, keeper=keeper)
        honest = run.tested
        assert honest is not None
        count.finish(honest.n_made)
        curve, *others = [curve_of(computed) for computed in tuned]
        inside = tunes_inside(problem.family)  # one more fit, on all rows
        claim = _claim(problem, curve, inside=inside)
        apparent, held_out, again = _fitted_again(problem, schedule.nested, honest, curve, keeper)
        count.finish(again + inside)
    seconds = perf_counter() - started
    return TunedLearner(
        curve=curve,
        criteria=_by_word(others),
        risk=run.risk,
        outer=run.outer,
        stability=run.stability(curve.best),
        n_fits=sum(one.n_made for one in (*tuned, honest)) + again + inside,
        seconds=sum(one.seconds for one in tuned) + seconds,
        answers=honest.evaluation.answers,
        shaken=honest.evaluation.shaken,
        winners=honest.evaluation.winners,
        problem=problem,
        apparent=apparent,
        held_out=held_out,
        claim=claim,
        as_given=as_given(run, curve),
    )


def _on_fewer_rows(
    name: str, one: TunedLearner, curve: PlannedCurve | str, count: Count, keeper: Keeper | None
) -> TunedLearner:
    """The learner with its learning curve, or with the reason why it has none."""
    if isinstance(curve, str):
        return replace(one, learning=curve)
    started = perf_counter()
    with named(name), stage(name):
        found = curve.measured(keeper)
    count.finish(curve.n_fits)
    seconds = one.seconds + perf_counter() - started
    return replace(one, learning=found, n_fits=one.n_fits + curve.n_fits, seconds=seconds)


def _fitted_again(
    problem: Problem,
    procedure: Procedure,
    honest: Computed,
    curve: RiskCurve,
    keeper: Keeper | None,
) -> tuple[RiskEstimate | None, OutOfFold | str, int]:
    """The apparent risk, the scores of rows that were held out, and how many fits these took.

    The models are those that were tuned and tested, which have said before what they warn of.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = honest.evaluation
        held_out = out_of_fold(problem, found.answers, found.winners, procedure, keeper)
        apparent = apparent_risk(problem, curve.best, keeper)
    return apparent, held_out, 1 + (0 if isinstance(held_out, str) else held_out.n_fits)


def _claim(problem: Problem, curve: RiskCurve, *, inside: bool) -> RiskEstimate | str | None:
    """What a learner of one setting claims for itself; None where the curve has several."""
    if inside:
        return claimed_by(problem, curve[0])
    return NOTHING_CHOSEN if len(curve) == 1 else None


def _by_word(curves: Sequence[RiskCurve]) -> dict[str, RiskCurve]:
    """Curves by the word of their method; a word that comes again gets a number."""
    found: dict[str, RiskCurve] = {}
    for curve in curves:
        word = curve.common.method
        again = sum(other.common.method == word for other in found.values())
        found[f"{word} ({again + 1})" if again else word] = curve
    return found


def _concluded(
    done: Mapping[str, TunedLearner],
    problems: Mapping[str, Problem],
    schedule: Schedule,
    keeper: Keeper | None,
    missing: Sequence[str] = (),
) -> Assessment:
    order = by_text({name: problems[name].family for name in done})
    best = ranked({name: one.risk.value for name, one in done.items()}, order)[0]
    problem = problems[best]
    found = Assessment(
        best=best,
        learners=dict(done),
        choice=risk_of_choice(done, order, problem, schedule.nested) if len(done) > 1 else None,
        constant=constant_risk(problem),
        tuned_by=schedule.methods[0].word,
        tested_by=schedule.nested.tested_by,
        testing=schedule.nested,
        missing=tuple(missing),
        order=tuple(order),
        problem=problem,
        given=schedule.given,
        kept=None if keeper is None else Kept(keeper.n_found, keeper.n_added),
    )
    return replace(found, conclusion=conclude(found))
