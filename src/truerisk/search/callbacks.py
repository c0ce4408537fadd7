"""Callbacks of scikit-learn (1.9 and newer), which follow the tasks of a `HonestSearchCV`.

The tasks are those of GridSearchCV ("search", with a "candidate-split-evaluation" for each fit, and
"refit-with-best-params"), and "honest-risk", which has evaluations as well. An engine that computes
many fits at once makes no single fit that could be followed. Each of its tasks stands for a share
of its fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any
from warnings import catch_warnings, simplefilter

from sklearn.callback import ProgressBar, with_callbacks

from truerisk.contracts import Method, Request
from truerisk.core.family import Family, has_best_params
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.progress import Progress, follow_fits, listen, listener
from truerisk.data.data import Data
from truerisk.engines.running.answering import RowsToPredict
from truerisk.engines.running.fitting import FitContext, FitInput, FitResult, fit_and_predict
from truerisk.estimation.problem import EstimationProblem, draw_plan
from truerisk.estimation.run import tuning_problem
from truerisk.methods.parts.procedure import Procedure
from truerisk.search.door import SearchTasks
from truerisk.search.search_problem import FitArguments

FIT_TASK = "candidate-split-evaluation"
ENGINE_TASK = "evaluations-by-engine"
# Callbacks take longer than a fast engine if they are called for each of its fits.
MAX_ENGINE_TASKS = 100


@with_callbacks  # type: ignore[untyped-decorator]
def fit_with_callbacks(
    search: Any,
    fit: Callable[[Any, FitArguments, SearchTasks], Any],
    y: Any,
    fit_arguments: FitArguments,
) -> Any:
    """Fit the search by `fit`, and call its callbacks when tasks begin and end."""
    n_tasks: int | None = 1 + (search.outer is not None) + bool(search.refit)
    if search.param_grid is None and has_best_params(search.estimator):
        n_tasks = None  # Only after its fit is it known whether the estimator is a search.
    root = search._init_callback_context(max_subtasks=n_tasks)
    weights = fit_arguments.rows["sample_weight"]
    tasks = _FollowedTasks(search, root, _hook_arguments(fit_arguments.X, y, weights))
    root.call_on_fit_task_begin(estimator=search, **tasks.hook_arguments)
    fit(y, fit_arguments, tasks)
    root.call_on_fit_task_end(estimator=search, **tasks.hook_arguments)
    return search


def _hook_arguments(X: Any, y: Any, weights: Any) -> dict[str, Any]:
    """Return the arguments of a callback, which calls a given function if it needs the value."""
    return {"X": X, "y": y, "metadata": None if weights is None else {"sample_weight": weights}}


@contextmanager
def _follow_fit(
    context: Any, search: Any, hook_arguments: Mapping[str, Any], model: Any
) -> Iterator[None]:
    """Call the callbacks before and after a fit, and hand them on to the model that is fitted."""
    try:
        with context.propagate_callback_context(model):
            context.call_on_fit_task_begin(estimator=search, **hook_arguments)
            yield
    finally:
        context.call_on_fit_task_end(estimator=search, **hook_arguments)


class _FollowedTasks(SearchTasks):
    """Tasks of a search that callbacks follow. Their contexts are subcontexts of `root`."""

    def __init__(self, search: Any, root: Any, hook_arguments: Mapping[str, Any]) -> None:
        self.search, self.root, self.hook_arguments = search, root, hook_arguments

    @override
    @contextmanager
    def follow(self, task_name: str, problem: EstimationProblem, method: Method) -> Iterator[None]:
        follower = _StageFollower(self, task_name, _max_fits(self.search, problem, method))
        with follow_fits(follower), listen(follower.report):
            yield
        follower.begin(0)  # It has not begun if the answers to all fits were known.
        follower.context.call_on_fit_task_end(estimator=self.search)

    @override
    def fit_context(self, task_name: str) -> FitContext:
        context = self.root.subcontext(task_name=task_name)
        return partial(_follow_fit, context, self.search, self.hook_arguments)


def _max_fits(search: Any, problem: EstimationProblem, method: Method) -> int | None:
    """Return the largest number of fits by which `method` estimates risks, or None if unknown."""
    tuning_method = problem.tuning_method
    if search.time_limit is not None or (tuning_method is not None and tuning_method.spares_fits):
        return None
    with catch_warnings():
        simplefilter("ignore")  # The computation draws the same plan and issues its warnings.
        return _count_fits(problem, method)


def _count_fits(problem: EstimationProblem, method: Method) -> int:
    n_candidates, plan = len(problem.family), draw_plan(problem, method)[2]
    if not isinstance(method, Procedure):
        return n_candidates * plan.n_fits
    outer_plan, inner_plan = map(plan.part_named, ("outer", "inner"))
    n_fits = inner_plan.n_fits * n_candidates * method.asks_inside(n_candidates)
    if not method.shares_folds:
        return n_fits + outer_plan.n_fits
    tuning_plan = draw_plan(tuning_problem(problem), problem.tuning_method)[2]
    return n_fits + outer_plan.n_fits * n_candidates * (not outer_plan.asks_like(tuning_plan))


class _StageFollower:
    """Observer of the fits of one task of a search.

    The task begins with its first pass, which shows whether the generic engine makes single fits or
    another engine computes all of them, and so how many subtasks there are.
    """

    def __init__(self, tasks: _FollowedTasks, task_name: str, max_fits: int | None) -> None:
        self.search, self.root, self.task_name = tasks.search, tasks.root, task_name
        self.max_fits = max_fits
        self.context: Any = None
        self.n_subtasks = self.n_fits_before = self.n_fits = 0
        self.is_generic = self.is_next_generic = False
        # The progress bar of scikit-learn takes the place of the progress line.
        callbacks = getattr(self.search, "_skl_callbacks", ())
        has_bar = any(isinstance(callback, ProgressBar) for callback in callbacks)
        self.outer_listener = None if has_bar else listener()

    def begin(self, max_subtasks: int | None) -> None:
        """Begin the task, unless it has begun."""
        if self.context is None:
            self.context = self.root.subcontext(
                self.task_name, max_subtasks=max_subtasks, sequential_subtasks=False
            ).call_on_fit_task_begin(estimator=self.search)

    def _add_subtask(self, subtask_name: str) -> Any:
        """Return the context of another subtask, or None if all announced subtasks exist."""
        if self.n_subtasks == self.context.max_subtasks:
            return None
        self.n_subtasks += 1
        return self.context.subcontext(subtask_name, task_id=self.n_subtasks - 1)

    def fit_function(self, jobs: Sequence[tuple[int, list[Any]]]) -> Callable[..., list[FitResult]]:
        """Return the function that makes the fits of these jobs, each as a subtask."""
        self.is_next_generic = True
        self.begin(self.max_fits)
        fits = [(fit, candidate) for fit, candidates in jobs for candidate in candidates]
        return _FollowedFits(self.search, {fit: self._add_subtask(FIT_TASK) for fit in fits})

    def report(self, progress: Progress) -> None:
        """Pass on a progress event; begin and end subtasks for fits that an engine has computed."""
        if self.outer_listener is not None:
            self.outer_listener(progress)
        if progress.unit != "fits":
            return
        if progress.done == 0:  # Another pass starts.
            self.is_generic, self.is_next_generic = self.is_next_generic, False
            self.n_fits_before, self.n_fits = self.n_fits_before + self.n_fits, 0
        self.n_fits = max(self.n_fits, progress.done)
        if self.is_generic:
            return
        self.begin(None if self.max_fits is None else min(self.max_fits, MAX_ENGINE_TASKS))
        n_due = self.n_subtasks + (progress.done > 0)
        if self.max_fits is not None:
            n_fits = self.n_fits_before + self.n_fits
            n_due = self.context.max_subtasks * n_fits // self.max_fits
        for _ in range(self.n_subtasks, n_due):
            subtask = self._add_subtask(ENGINE_TASK)
            if subtask is not None:
                subtask.call_on_fit_task_begin(estimator=self.search)
                subtask.call_on_fit_task_end(estimator=self.search)


@frozen(eq=False)
class _FollowedFits:
    """Function that fits and predicts as `fit_and_predict` does, and calls the callbacks.

    It is sent to workers. `contexts` maps the numbers of the fit and of the candidate to a context.
    """

    search: Any
    contexts: Mapping[tuple[int, int], Any]

    def __getstate__(self) -> dict[str, Any]:
        search = copy(self.search)
        search.n_jobs = None  # An executor cannot be sent to its own workers.
        return {**vars(self), "search": search}

    def __call__(
        self,
        family: Family,
        data: Data,
        request: Request,
        fit_input: FitInput,
        make_test_sets: Callable[[], list[RowsToPredict]],
        seed_fit_candidate: tuple[int, int, int],
    ) -> list[FitResult]:
        context = self.contexts[seed_fit_candidate[1:]]
        if context is not None:

            def make_targets() -> Any:
                targets = data.targets(fit_input.y)
                return targets[0] if targets else None

            hook_arguments = _hook_arguments(
                fit_input.make_features, make_targets, fit_input.weights
            )
            # The whole model is fitted, so that a pipeline can follow the fits of its steps.
            fit_input = replace(
                fit_input,
                steps=None,
                fit_context=partial(_follow_fit, context, self.search, hook_arguments),
            )
        # If the model itself calls this package, the fits of that call are no tasks of this search.
        with follow_fits(None), listen(None):
            return fit_and_predict(
                family, data, request, fit_input, make_test_sets, seed_fit_candidate
            )
