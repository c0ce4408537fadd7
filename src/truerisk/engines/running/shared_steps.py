"""Fit the steps of a pipeline before its learner once for all candidates that share them.

Candidates that differ only in the learner are fitted on the same transformed table. Candidates that
differ in the third step share the first two steps. For each training set the fitted steps form a
trie (prefix tree) over the settings of the steps. Settings that can be derived from one fit of a
step (k columns, n components) are derived from it. The learners of one assessment share their steps
as well.

The predictions equal those of each candidate's own pipeline, because a step is shared only if this
makes no difference: the pipeline is a plain scikit-learn Pipeline without cache, output or
callbacks, and no step takes a fit parameter. If a step fails, the whole pipeline is fitted, and
raises its own error.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from truerisk.core.errors import is_failure
from truerisk.core.family import Family, get_shallow_params
from truerisk.core.frozen import frozen
from truerisk.core.identity import PIPELINE, is_exactly
from truerisk.data.data import Data
from truerisk.data.rows import copy_if_mutable
from truerisk.engines.prepared import StepFitter, fit_and_transform
from truerisk.engines.running.fit_warnings import FitWarning, collect_warnings
from truerisk.engines.running.read_off import find_shared_fit_parameter
from truerisk.engines.settings import separate_steps_refusal
from truerisk.plan.plan import Plan

MAX_STORED_BYTES = (
    256 * 2**20
)  # Transformed tables that are stored for other families take at most this many bytes.
MAX_NESTING_DEPTH = (
    4  # To measure a fitted step, its attributes are searched to this depth of nesting.
)


@frozen
class UnfittedStep:
    """An unfitted step of a candidate's pipeline, with a key of its settings and random states.

    `settings_key` is equal for steps with equal settings. If the grid has several values of a
    parameter that can be derived from one fit, `key_without_parameter` is the key without that
    parameter, `value` is the parameter's value in this step, and `values` are all its values in the
    grid.
    """

    name: str
    step: Any
    settings_key: Hashable
    key_without_parameter: Hashable = None
    value: Any = None
    values: tuple[Any, ...] = ()


@dataclass(eq=False)
class FittedStep:
    """A fitted pipeline step, which is a node of a `FittedStepTree`, and its transformed tables.

    `X` is the transformed training set, and `test_tables` holds the transformed test sets.
    """

    step: Any
    X: Any
    step_warnings: list[FitWarning]
    test_tables: dict[int, Any] = field(default_factory=dict)


@frozen(eq=False)
class FittedSteps:
    """The fitted steps before one candidate's learner, and the tables that they returned.

    A learner gets copies of the tables, so that it cannot overwrite what other candidates use.
    """

    names: tuple[str, ...]
    fitted_steps: tuple[FittedStep, ...]

    @property
    def steps_by_name(self) -> dict[str, Any]:
        """Dictionary from the name of each pipeline step to the fitted step."""
        return dict(zip(self.names, self.transformers, strict=True))

    @property
    def transformers(self) -> list[Any]:
        """The fitted steps, in the order of the pipeline."""
        return [fitted_step.step for fitted_step in self.fitted_steps]

    @property
    def train_table(self) -> Any:
        """Training set after all steps, as the learner sees it."""
        return copy_if_mutable(self.fitted_steps[-1].X)

    def transform_test_set(self, test_position: int, X: Any) -> Any:
        """Transform X, the rows of a test set, by all steps; later calls reuse the result.

        `test_position` is the position of the test set among the test sets of the fit.
        """
        for fitted_step in self.fitted_steps:
            if test_position not in fitted_step.test_tables:
                fitted_step.test_tables[test_position] = fitted_step.step.transform(
                    copy_if_mutable(X)
                )
            X = fitted_step.test_tables[test_position]
        return copy_if_mutable(X)


class FittedStepTree:
    """Prefix tree of the pipeline steps that were fitted on one training set."""

    def __init__(self) -> None:
        self.nodes_by_key: dict[tuple[Hashable, ...], FittedStep] = {}

    def fit_steps(
        self,
        unfitted_steps: Sequence[UnfittedStep],
        make_table: Callable[[], Any],
        y: np.ndarray | None,
        path_key: tuple[Hashable, ...] = (),
    ) -> FittedSteps:
        """Return the fitted steps of a candidate; fit only those that are not yet in the tree.

        `make_table` creates the training set, which a step may overwrite. `path_key` tells steps
        fitted on different tables apart.
        """
        fitted_steps: list[FittedStep] = []
        for unfitted_step in unfitted_steps:
            parent_key, path_key = path_key, (*path_key, unfitted_step.settings_key)
            if path_key not in self.nodes_by_key:
                derived_step = self._derive_step(unfitted_step, parent_key, make_table, y)
                self.nodes_by_key[path_key] = derived_step or _fit_step(
                    unfitted_step.step, make_table, y
                )
            fitted_steps.append(self.nodes_by_key[path_key])
            make_table = partial(copy_if_mutable, fitted_steps[-1].X)
            # The warnings are issued again, because each candidate's own pipeline would issue them.
            for category, text in fitted_steps[-1].step_warnings:
                warnings.warn(text, category, stacklevel=2)
        return FittedSteps(
            tuple(unfitted_step.name for unfitted_step in unfitted_steps), tuple(fitted_steps)
        )

    def _derive_step(
        self,
        unfitted_step: UnfittedStep,
        parent_key: tuple[Hashable, ...],
        make_table: Callable[[], Any],
        y: np.ndarray | None,
    ) -> FittedStep | None:
        """Derive a fitted step from the step fitted at another value of one parameter.

        Return None if the step has no such parameter, or if the values need fits of their own.
        """
        shared_parameter = find_shared_fit_parameter(unfitted_step.step)
        if shared_parameter is None or unfitted_step.key_without_parameter is None:
            return None
        path_key = (*parent_key, unfitted_step.key_without_parameter)
        if path_key not in self.nodes_by_key:
            value_to_fit = shared_parameter.choose_value_to_fit(
                unfitted_step.step, unfitted_step.values, make_table()
            )
            if value_to_fit is None:
                return None
            from sklearn.base import clone

            self.nodes_by_key[path_key] = _fit_step(
                clone(unfitted_step.step).set_params(
                    **{shared_parameter.parameter_name: value_to_fit}
                ),
                make_table,
                y,
            )
        fitted_step = self.nodes_by_key[path_key]
        step_and_table = shared_parameter.derive_fitted_step(
            fitted_step.step, unfitted_step.value, fitted_step.X
        )
        if step_and_table is None:
            return None
        derived_step, table = step_and_table
        table = derived_step.transform(make_table()) if table is None else table
        return FittedStep(derived_step, table, fitted_step.step_warnings)

    @property
    def n_bytes(self) -> int:
        """Size in bytes of the transformed tables and of the arrays that the steps learned."""
        seen_ids: set[int] = set()
        count_bytes = partial(_size_in_bytes, depth=MAX_NESTING_DEPTH, seen_ids=seen_ids)
        return sum(
            count_bytes(stored_object)
            for fitted_step in self.nodes_by_key.values()
            for stored_object in (fitted_step.X, fitted_step.test_tables, fitted_step.step)
        )


class FittedStepTrees:
    """Fitted steps for several training sets, stored for later families while memory permits."""

    def __init__(self, room: int = MAX_STORED_BYTES) -> None:
        self.free_bytes = room
        self.by_fit: dict[tuple[str, int], FittedStepTree] = {}
        self._latest_tree: tuple[tuple[str, int], FittedStepTree] | None = None

    def get_step_tree(self, plan: Plan, fit: int) -> FittedStepTree:
        """Return the tree of steps fitted on one training set.

        The tree that was in use before is stored if memory permits.
        """
        fit_key = plan.fingerprint, fit
        if self._latest_tree is not None and self._latest_tree[0] != fit_key:
            self._store_if_memory_permits(*self._latest_tree)
            self._latest_tree = None
        if fit_key in self.by_fit:
            return self.by_fit[fit_key]
        if self._latest_tree is None:
            self._latest_tree = fit_key, FittedStepTree()
        return self._latest_tree[1]

    def _store_if_memory_permits(self, fit_key: tuple[str, int], step_tree: FittedStepTree) -> None:
        n_bytes = step_tree.n_bytes
        if n_bytes <= self.free_bytes:
            self.free_bytes -= n_bytes
            self.by_fit[fit_key] = step_tree


def _fit_step(step: Any, make_table: Callable[[], Any], y: np.ndarray | None) -> FittedStep:
    """Fit a step and return it with its transformed table and its warnings.

    The step may overwrite the table that `make_table` creates.
    """
    with collect_warnings() as step_warnings:
        table = fit_and_transform(step, make_table(), y)
    return FittedStep(step, table, step_warnings)


def _size_in_bytes(value: Any, depth: int, seen_ids: set[int]) -> int:
    if id(value) in seen_ids or not depth:
        return 0
    seen_ids.add(id(value))
    if isinstance(value, np.ndarray):
        return value.nbytes
    # Strings in a data frame are not counted, because they are the user's own objects.
    if hasattr(value, "memory_usage"):
        return int(np.sum(value.memory_usage(deep=False)))
    nested_values = list(value.values()) if isinstance(value, dict) else []
    nested_values += list(value) if isinstance(value, list | tuple) else []
    nested_values += list(getattr(value, "__dict__", {}).values())
    return sys.getsizeof(value) + sum(
        _size_in_bytes(nested_value, depth - 1, seen_ids) for nested_value in nested_values
    )


class UnfittedSteps:
    """The unfitted pipeline steps before the learner, for each candidate of a family."""

    def __init__(self, family: Family) -> None:
        self.family = family

    def make_unfitted_steps(
        self, steps: Sequence[tuple[str, Any]], candidate: int
    ) -> list[UnfittedStep]:
        """Return a candidate's unfitted steps before its learner, in the order of the pipeline."""
        return [
            self._make_unfitted_step(name, step, candidate)
            for name, step in steps
            if step is not None and not (isinstance(step, str) and step == "passthrough")
        ]

    def _make_unfitted_step(self, name: str, step: Any, candidate: int) -> UnfittedStep:
        step_params = _params_of_step(self.family.candidates[candidate], name)
        random_states = _random_states(step) if self.family.is_random else ()
        settings_key = self._make_settings_key(name, step_params, random_states)
        shared_parameter = find_shared_fit_parameter(step)
        parameter_name = "" if shared_parameter is None else shared_parameter.parameter_name
        if parameter_name not in step_params:
            return UnfittedStep(name, step, settings_key)
        values = self._values_in_grid(name, parameter_name, step_params)
        if len(values) < 2:
            return UnfittedStep(name, step, settings_key)
        key_without_parameter = (
            "for each",
            parameter_name,
            self._make_settings_key(name, _drop_param(parameter_name, step_params), random_states),
        )
        return UnfittedStep(
            name, step, settings_key, key_without_parameter, step_params[parameter_name], values
        )

    def _make_settings_key(
        self, name: str, step_params: Mapping[str, Any], random_states: Hashable
    ) -> Hashable:
        """Return a key that is equal for steps with equal settings and equal random states."""
        return self._original_step_keys.get(name), _settings_key(step_params), random_states

    @cached_property
    def _original_step_keys(self) -> dict[str, Hashable]:
        """Comparison keys of the steps as given by the user, without any candidate's parameters."""
        return {name: _equality_key(step) for name, step in self.family.estimator.steps[:-1]}

    def _values_in_grid(
        self, name: str, parameter: str, step_params: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        """Return the values of a parameter in those candidates that agree in the step's others."""
        other_settings_key = _settings_key(_drop_param(parameter, step_params))
        values = {}
        for params in self._params_by_step[name]:
            if (
                parameter in params
                and _settings_key(_drop_param(parameter, params)) == other_settings_key
            ):
                values[repr(params[parameter])] = params[parameter]
        return tuple(values.values())

    @cached_property
    def _params_by_step(self) -> dict[str, list[dict[str, Any]]]:
        step_names = [name for name, _ in self.family.estimator.steps[:-1]]
        return {
            n: [_params_of_step(params, n) for params in self.family.candidates] for n in step_names
        }


class SharedSteps:
    """The pipeline steps that the candidates of one fit share, with the tree that stores them."""

    def __init__(self, unfitted_steps: UnfittedSteps, step_tree: FittedStepTree) -> None:
        self.unfitted_steps, self.step_tree = unfitted_steps, step_tree

    @classmethod
    def from_family(
        cls, family: Family, data: Data, n_candidates: int, step_tree: FittedStepTree | None = None
    ) -> SharedSteps | None:
        """Return the steps that a family's candidates share, or None if sharing may change results.

        If a `step_tree` of the training set is given, other families share its steps as well.
        """
        has_nothing_to_share = n_candidates < 2 and step_tree is None
        if has_nothing_to_share or not family.is_piped or not _is_shareable(family, data):
            return None
        return cls(UnfittedSteps(family), FittedStepTree() if step_tree is None else step_tree)

    def put_fitted_steps(
        self, model: Any, candidate: int, make_table: Callable[[], Any], y: np.ndarray | None
    ) -> FittedSteps | None:
        """Put the fitted steps of a candidate into its pipeline and return them.

        Return None if a step fails, or if there are no steps before the learner.
        """
        unfitted_steps = self.unfitted_steps.make_unfitted_steps(model.steps[:-1], candidate)
        try:
            fitted_steps = self.step_tree.fit_steps(unfitted_steps, make_table, y)
        except BaseException as error:
            if not is_failure(error):
                raise
            return None
        steps_by_name = fitted_steps.steps_by_name
        model.steps = [(name, steps_by_name.get(name, step)) for name, step in model.steps]
        return fitted_steps if steps_by_name else None


def known_steps(
    step_trees: FittedStepTrees, family: Family, steps: Any, candidate: int
) -> Callable[[Plan, int], StepFitter | None]:
    """Return a function that looks up pipeline steps fitted by another family on the same rows.

    Steps that no other family fitted are fitted.
    """
    from sklearn.base import clone

    unfitted_steps = UnfittedSteps(family).make_unfitted_steps(steps.steps, candidate)

    def fit_remaining_steps(
        plan: Plan, fit: int, n_closed_form_steps: int, X: Any, y: np.ndarray
    ) -> FittedSteps:
        remaining_steps = [
            replace(unfitted_step, step=clone(unfitted_step.step))
            for unfitted_step in unfitted_steps[n_closed_form_steps:]
        ]
        closed_form_key = (
            "in closed form",
            *(unfitted_step.settings_key for unfitted_step in unfitted_steps[:n_closed_form_steps]),
        )
        return step_trees.get_step_tree(plan, fit).fit_steps(
            remaining_steps,
            partial(copy_if_mutable, X),
            y,
            closed_form_key if n_closed_form_steps else (),
        )

    return lambda plan, fit: partial(fit_remaining_steps, plan, fit)


def with_equal_first_step(families: Mapping[str, Family]) -> set[str]:
    """Return the names of the families that share their first pipeline step with another family."""
    names_by_step: dict[Hashable, list[str]] = {}
    for family_name, family in families.items():
        if family.is_piped and len(family.estimator.steps) > 1:
            names_by_step.setdefault(_equality_key(family.estimator.steps[0][1]), []).append(
                family_name
            )
    return {
        family_name for names in names_by_step.values() if len(names) > 1 for family_name in names
    }


def _params_of_step(params: Mapping[str, Any], step_name: str) -> dict[str, Any]:
    """Return a candidate's parameters of one step, by name.

    The name is "" if the candidate replaces the step itself.
    """
    split_params = ((n.partition("__"), value) for n, value in params.items())
    return {
        parameter_name: value
        for (step, _, parameter_name), value in split_params
        if step == step_name
    }


def _drop_param(parameter: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name != parameter}


def _settings_key(params: Mapping[str, Any]) -> Hashable:
    return tuple((name, _equality_key(params[name])) for name in sorted(params))


def _random_states(step: Any) -> Hashable:
    """Return the `random_state` parameters of a step and of the estimators nested in it."""
    params = step.get_params(deep=True) if hasattr(step, "get_params") else {}
    return tuple((n, value) for n, value in sorted(params.items()) if n.endswith("random_state"))


class _IdentityKey:
    """Dictionary key for an object that is compared by identity.

    It holds the object, so that no other object gets the same id.
    """

    def __init__(self, content: Any) -> None:
        self.content = content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _IdentityKey) and self.content is other.content

    def __hash__(self) -> int:
        return id(self.content)


def _equality_key(value: Any) -> Hashable:
    """Return a key that is equal for equal values, and for estimators with equal settings."""
    if value is None or isinstance(value, str | int | float | np.generic):
        return type(value), repr(value)
    if isinstance(value, list | tuple):
        return (type(value), *map(_equality_key, value))
    if isinstance(value, slice):
        return slice, repr(value)
    if hasattr(value, "get_params") and not isinstance(value, type) and _is_cloned_by_params(value):
        params = get_shallow_params(value)
        # The configuration of `set_output` is not among the parameters.
        output_config = repr(getattr(value, "_sklearn_output_config", None))
        return (
            type(value),
            output_config,
            *((name, _equality_key(params[name])) for name in sorted(params)),
        )
    return _IdentityKey(value)


def _is_cloned_by_params(estimator: Any) -> bool:
    """Return True if `clone` makes an unfitted estimator from the parameters.

    Cloning a FrozenEstimator, for example, returns the fitted estimator itself.
    """
    from sklearn.base import BaseEstimator

    clone_method = getattr(type(estimator), "__sklearn_clone__", None)
    return clone_method is None or clone_method is BaseEstimator.__sklearn_clone__


def _is_shareable(family: Family, data: Data) -> bool:
    pipeline = family.estimator
    if not is_exactly(pipeline, PIPELINE) or len(pipeline.steps) < 2 or "steps" in family.named:
        return False
    has_step_fit_params = any(not name.startswith(family.prefix) for name in data.fit_params)
    return separate_steps_refusal(family) is None and not (
        has_step_fit_params or any(family.pairwise)
    )
