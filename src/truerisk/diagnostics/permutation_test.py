"""`permutation_test`: whether a tuned procedure learns anything at all."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

from truerisk.core.arguments import check_count, mention, refuses_old_names
from truerisk.core.errors import Refusal, TrueRiskWarning, warn
from truerisk.core.formats import of_class
from truerisk.core.formats import seconds as in_words
from truerisk.core.progress import shows_progress, stage
from truerisk.diagnostics.permutations import SHIFTS, Orders, PermutationTest, Repeated
from truerisk.engines.running.executors import workers_of
from truerisk.estimation.problem import Problem, as_seed, checked_method
from truerisk.methods.pairs import Pairs
from truerisk.search.any_model import problem_of_any
from truerisk.search.search import HonestSearchCV

LONG = 60.0  # seconds that deserve a word before they pass
FEW = 7  # rows, or groups, of which all orders are soon seen (7! = 5040)


@refuses_old_names
@shows_progress
def permutation_test(
    search: Any,
    X: Any,
    y: Any,
    *,
    n_permutations: int = 1000,
    groups: Any = None,
    time: Any = None,
    n_jobs: Any = None,
    random_state: Any = 0,
    **params: Any,
) -> PermutationTest:
    r"""Test whether a tuned procedure learns anything, by doing all of it on permuted labels.

    Every permutation of y is searched as the labels themselves are: folds are drawn, settings
    compared, the choice tested on rows that had no part in it. With risks R (of a score the losses
    behind it), the p-value is

        p = (1 + #{j : R_j ≤ R}) / (1 + n_permutations),

    ties counted, which is valid for any learner and any number of rows where labels are
    exchangeable (Phipson and Smyth, 2010; Ojala and Garriga, 2010). A small p says that the
    procedure does better than chance, not that it does well.

    Parameters
    ----------
    search : HonestSearchCV, or any model
        What is tested: the honest risk of a search (``risk_``), or the 5-fold risk of a model. A
        search of another library is a model that tunes inside its own fit.
    X, y : table and target
    n_permutations : int
        How many; the smallest p-value is 1/(1 + n_permutations).
    groups : array of labels or name of a column of X, optional
        Rows of one group stay together. Where each group has one label, the labels of groups
        change places; else the labels of groups of equal size do, as a whole.
    time : array or name of a column of X, optional
        When each row was taken, one row a time. Labels then depend on those before them, and are
        taken on in time as a whole, those at the end to the front: a series y that is stationary
        and has nothing to do with X is as likely in each of these orders, but for the one break.
    n_jobs : optional
        Where permutations are computed, as in `estimate_risk`; that of the search by default.
    random_state : int, None or Generator
        Of the permutations. Folds, and models, are drawn as the search says.
    **params
        Fit parameters of the search, such as ``sample_weight``, which stay with their rows.

    Returns
    -------
    PermutationTest
        ``p_value``, ``observed``, ``null``.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_difficult(60, random_state=0)
    >>> search = tr.HonestSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5]})
    >>> print(tr.permutation_test(search, X, y, n_permutations=99))
    p = 0.01: 0 of 99 permutations (rows) have a risk as small
      observed: risk 0.0833 (zero-one, pairs (5-fold))
      permuted: risk 0.5059 on average, 0.2667 to 0.6833
    """
    check_count("n_permutations", n_permutations)
    seed = as_seed(random_state)
    if params.get("block") is not None:
        raise Refusal(
            "block: no order of labels in space keeps how they depend on their neighbours, so none "
            f"is as likely as y. Labels of blocks may be given as {mention('groups')}; the risk at "
            "places away from the training rows is estimated by tr.estimate_risk(..., block=)."
        )
    problem = problem_to_permute(search, X, y, groups, dict(params), time)
    method = problem.testing
    assert method is not None
    executor = problem.by(n_jobs).executor
    workers = workers_of(executor)
    procedure = Repeated(problem, Orders.of(problem.data, seed))
    started = perf_counter()
    with stage("observed"):
        observed, engine = procedure.observed()
    # a forecast, told by what the labels as they are took
    expected = (perf_counter() - started) * n_permutations / (workers or 1)
    if expected > LONG:
        warn(
            f"these permutations will take about {in_words(expected)} (engine '{engine}'): fewer "
            "of them give a coarser p-value that is as valid, and n_jobs= spreads them.",
            TrueRiskWarning,
        )
    with stage("permuted"):
        null = procedure.null(n_permutations, executor)
    scale = problem.loss.scale
    return PermutationTest(
        observed=scale.value(observed),
        null=scale.values(null),
        permuted=procedure.orders.what,
        n_units=procedure.orders.n_units,
        scoring=of_class(problem.loss.word, problem.loss.label(problem.data)),
        method=method.word,
        engine=engine,
        seed=seed,
        search_seed=problem.seed,
        seconds=perf_counter() - started,
        data_fingerprint=problem.data.fingerprint,
        notes=_notes(procedure.orders),
        perfect=scale.perfect,
    )


def problem_to_permute(
    search: Any, X: Any, y: Any, groups: Any, params: dict[str, Any], time: Any = None
) -> Problem:
    """Pose what is computed anew on every permutation: the risk of a model, or of a search.

    A search of another library is a model that tunes inside its own fit.
    """
    ours = isinstance(search, HonestSearchCV)
    if ours:
        _refuse(search)
    problem = problem_of_any(search, X, y, groups, params, time=time)
    method = problem.testing if ours else problem.select_by
    assert method is not None  # a search without one is refused
    if isinstance(method, Pairs) and len(problem.family) == 1:
        method = method.outer_method  # nothing is chosen: pairs would tell nothing more
    problem, method = checked_method(replace(problem, interval=None), method)
    return replace(problem, testing=method)


def _refuse(search: HonestSearchCV) -> None:
    """Refuse a search without an honest risk, or whose risk does not depend on the labels alone."""
    if search.outer is None:
        raise Refusal(
            f"{mention('outer', None)} leaves out the risk that would be tested: use "
            f"{mention('outer', 'pairs')}."
        )
    if search.time_limit is not None:
        raise Refusal(
            "time_limit: a clock would decide how much of each permutation is searched: leave it "
            "out, and use fewer settings."
        )
    if search.error_score != "raise":
        raise Refusal(
            "error_score: a permutation whose fits fail has no risk to count: use "
            "error_score='raise'."
        )


def _notes(orders: Orders) -> tuple[str, ...]:
    if orders.what == SHIFTS:
        return ("y is assumed stationary: a trend or a lasting change of level is not chance.",)
    if orders.n_units > FEW:
        return ()
    units = "rows" if orders.what == "rows" else "groups"
    return (f"{orders.n_units} {units} change places: the same orders are drawn repeatedly.",)
