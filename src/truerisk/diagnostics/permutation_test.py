"""`permutation_test`: test whether a tuned procedure predicts better than chance."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

from truerisk.core.arguments import check_count, mention, refuses_old_names
from truerisk.core.errors import Refusal, TrueRiskWarning, warn
from truerisk.core.formats import format_seconds as in_words
from truerisk.core.formats import score_of_class
from truerisk.core.progress import displays_progress, stage
from truerisk.diagnostics.permutations import (
    SHIFTS_IN_TIME,
    LabelPermutations,
    PermutationTest,
    RepeatedProcedure,
)
from truerisk.engines.running.executors import count_workers
from truerisk.estimation.problem import EstimationProblem, as_seed, check_method
from truerisk.methods.pairs import Pairs
from truerisk.search.any_model import problem_from_model
from truerisk.search.search import HonestSearchCV

LONG_TEST_SECONDS = (
    60.0  # If a test will take more than LONG_TEST_SECONDS seconds, a warning says so in advance.
)
# Up to this number of rows or groups, a note says that permutations soon repeat (7! = 5040).
MAX_UNITS_WITH_NOTE = 7


@refuses_old_names
@displays_progress
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
    """Test whether a tuned procedure is better than chance, by repeating it on permuted labels.

    For every permutation of y the whole procedure is repeated: folds are drawn, settings are
    compared, and the choice is tested on rows that were not used for it. Let R be the risk with the
    original labels and R_j the risk in permutation j (for a score, the corresponding losses). The
    p-value is

        p = (1 + #{j : R_j ≤ R}) / (1 + n_permutations),

    so that ties count. It is valid for any learner and any number of rows if labels are
    exchangeable (Phipson and Smyth, 2010; Ojala and Garriga, 2010). A small p-value means that the
    procedure is better than chance, not that it is good.

    Parameters
    ----------
    search : HonestSearchCV, or any model
        The procedure to test. The tested risk is the honest risk of a search (``risk_``), or the
        5-fold risk of any other model. A search of another library counts as a model that tunes
        inside its own fit.
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
        When each row was observed, with one row per time. Labels then depend on earlier labels, so
        that they are shifted in time as a whole, and labels shifted beyond the end come to the
        front: a stationary series y that is independent of X is equally likely in each of these
        orders, apart from the one break.
    n_jobs : None, int, str or executor, optional
        Where permutations are computed, as in `estimate_risk`. The default is that of the search.
    random_state : int, None or Generator, default=0
        The seed of the permutations. Folds and models are drawn as the search specifies.
    **params
        Fit parameters of the search, such as ``sample_weight``, which stay with their rows.

    Returns
    -------
    PermutationTest
        The test with its ``p_value``, the ``observed`` risk and the permuted risks (``null``).

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
    method = problem.testing_method
    assert method is not None
    executor = problem.with_executor(n_jobs).executor
    n_workers = count_workers(executor)
    repeated_procedure = RepeatedProcedure(problem, LabelPermutations.from_data(problem.data, seed))
    start_time = perf_counter()
    with stage("observed"):
        observed_risk, engine = repeated_procedure.observed_risk()
    # The duration is predicted from the time that the original labels took.
    expected_seconds = (perf_counter() - start_time) * n_permutations / (n_workers or 1)
    if expected_seconds > LONG_TEST_SECONDS:
        warn(
            f"these permutations will take about {in_words(expected_seconds)} (engine '{engine}'): "
            "fewer of them give a coarser p-value that is as valid, and n_jobs= spreads them.",
            TrueRiskWarning,
        )
    with stage("permuted"):
        permuted_risks = repeated_procedure.null_risks(n_permutations, executor)
    loss_scale = problem.loss.scale
    return PermutationTest(
        observed=loss_scale.value(observed_risk),
        null=loss_scale.values(permuted_risks),
        permuted=repeated_procedure.label_permutations.permutation_kind,
        n_units=repeated_procedure.label_permutations.n_units,
        scoring=score_of_class(problem.loss.name, problem.loss.label(problem.data)),
        method=method.name,
        engine=engine,
        seed=seed,
        search_seed=problem.seed,
        seconds=perf_counter() - start_time,
        data_fingerprint=problem.data.fingerprint,
        notes=_notes(repeated_procedure.label_permutations),
        perfect=loss_scale.perfect,
    )


def problem_to_permute(
    search: Any, X: Any, y: Any, groups: Any, params: dict[str, Any], time: Any = None
) -> EstimationProblem:
    """Return the estimation problem that the test solves anew with each permutation of the labels.

    A search of another library counts as a model that tunes inside its own fit.
    """
    is_honest_search = isinstance(search, HonestSearchCV)
    if is_honest_search:
        _refuse_search(search)
    problem = problem_from_model(search, X, y, groups, params, time=time)
    method = problem.testing_method if is_honest_search else problem.tuning_method
    assert method is not None  # `_refuse_search` refuses a search that has no method for testing.
    if isinstance(method, Pairs) and len(problem.family) == 1:
        # With a single setting nothing is chosen, and pairs of folds give the same result as the
        # outer folds.
        method = method.outer_method
    problem, method = check_method(replace(problem, interval=None), method)
    return replace(problem, testing_method=method)


def _refuse_search(search: HonestSearchCV) -> None:
    """Raise Refusal for a search that cannot be permuted.

    Such a search has no outer folds, a time limit, or an error_score.
    """
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


def _notes(label_permutations: LabelPermutations) -> tuple[str, ...]:
    if label_permutations.permutation_kind == SHIFTS_IN_TIME:
        return ("y is assumed stationary: a trend or a lasting change of level is not chance.",)
    if label_permutations.n_units > MAX_UNITS_WITH_NOTE:
        return ()
    unit_name = "rows" if label_permutations.permutation_kind == "rows" else "groups"
    return (
        (
            f"{label_permutations.n_units} {unit_name} change places: "
            "the same orders are drawn repeatedly."
        ),
    )
