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
    """Test whether a tuned procedure learns anything, by repeating all of it on permuted labels.

    Every permutation of y is searched as the original labels are: folds are drawn, settings are
    compared, and the choice is tested on rows that took no part in it. With risks R (for a score
    the losses behind it), the p-value is

        p = (1 + #{j : R_j ≤ R}) / (1 + n_permutations),

    where ties count. It is valid for any learner and any number of rows if labels are exchangeable
    (Phipson and Smyth, 2010; Ojala and Garriga, 2010). A small p-value means that the procedure is
    better than chance, not that it is good.

    Parameters
    ----------
    search : HonestSearchCV, or any model
        What is tested: the honest risk of a search (``risk_``), or the 5-fold risk of a model. A
        search of another library is a model that tunes inside its own fit.
    X : array, sparse matrix or frame
        The features, as an array, a sparse matrix, or a frame of pandas, polars or pyarrow.
    y : array or column
        The target of each row.
    n_permutations : int, default=1000
        The number of permutations; the smallest p-value is 1/(1 + n_permutations).
    groups : array of labels or name of a column of X, optional
        Rows of one group stay together. If each group has one label, the labels of groups are
        permuted; otherwise groups of equal size exchange their labels as a whole.
    time : array or name of a column of X, optional
        When each row was observed, one row per time. Labels then depend on earlier labels, so that
        they are shifted in time as a whole, and labels shifted beyond the end come to the front: a
        stationary series y that is independent of X is equally likely in each of these orders,
        apart from the one break.
    n_jobs : None, int, str or executor, optional
        Where permutations are computed, as in `estimate_risk`. The default is that of the search.
    random_state : int, None or Generator, default=0
        The seed of the permutations. Folds and models are drawn as the search specifies.
    **params
        Fit parameters of the search, such as ``sample_weight``, which stay with their rows.

    Returns
    -------
    PermutationTest
        ``p_value``, ``observed`` and ``null``.

    See Also
    --------
    HonestSearchCV : The tuned procedure that is tested.
    estimate_risk : Estimate how good a model is.

    References
    ----------
    Phipson B, Smyth GK (2010). Permutation p-values should never be zero. Statistical Applications
    in Genetics and Molecular Biology 9:39.

    Ojala M, Garriga GC (2010). Permutation tests for studying classifier performance. Journal of
    Machine Learning Research 11:1833–1863.

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
    executor = problem.with_executor(n_jobs).executor
    workers = workers_of(executor)
    procedure = Repeated(problem, Orders.from_data(problem.data, seed))
    started = perf_counter()
    with stage("observed"):
        observed, engine = procedure.observed()
    # a forecast from the time that the original labels took
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
        scoring=of_class(problem.loss.name, problem.loss.label(problem.data)),
        method=method.name,
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
    assert method is not None  # A search without a method was refused before.
    if isinstance(method, Pairs) and len(problem.family) == 1:
        method = method.outer_method  # Without a choice, pairs of folds give the same result.
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
