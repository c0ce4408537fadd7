"""Fit the steps of a pipeline before its learner once for all candidates that share them.

Candidates that differ in the learner only are fitted on the same table. Candidates that differ in
the third step share the first two. The fitted steps form a trie over the settings of the steps, one
per training set. Settings that can be derived from one fit of a step (k columns, n components) are
derived from it. The learners of one assessment share their steps as well.

The answers equal those of each candidate's own pipeline, because a step is shared only if this
makes no difference: the pipeline is a plain scikit-learn Pipeline without cache, output or
callbacks, and no step takes a fit parameter. If a step fails, the pipeline itself is fitted, and
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
from truerisk.core.family import Family, parameters_of
from truerisk.core.frozen import frozen
from truerisk.core.identity import PIPELINE, is_exactly
from truerisk.data.data import Data
from truerisk.data.rows import copied
from truerisk.engines.prepared import Begin, fit_and_transform
from truerisk.engines.running.fit_warnings import Warned, collect_warnings
from truerisk.engines.running.read_off import reading_of
from truerisk.engines.settings import why_not_apart
from truerisk.plan.plan import Plan

ROOM = 256 * 2**20  # bytes of tables that are stored for later learners
DEPTH = 4  # the depth to which a fitted step is searched for arrays


@frozen
class Start:
    """One unfitted step of a candidate before its learner, with its seed.

    `kind` is equal for steps with equal settings. If the grid has several values of a parameter
    that can be derived from one fit, `but` is the kind without that parameter, and `value` is the
    value of this step.
    """

    name: str
    step: Any
    kind: Hashable
    but: Hashable = None
    value: Any = None
    values: tuple[Any, ...] = ()


@dataclass(eq=False)
class Place:
    """A fitted step at one place of the trie: its training table and its transformed test rows."""

    step: Any
    X: Any
    warned: list[Warned]
    test_tables: dict[int, Any] = field(default_factory=dict)


@frozen(eq=False)
class Begun:
    """The fitted steps before one candidate's learner, with the training and test rows it sees.

    A learner gets copies, so that it cannot overwrite what other candidates use.
    """

    names: tuple[str, ...]
    places: tuple[Place, ...]

    @property
    def steps(self) -> dict[str, Any]:
        """The fitted steps by their names."""
        return dict(zip(self.names, self.fitted, strict=True))

    @property
    def fitted(self) -> list[Any]:
        """The fitted steps in their order."""
        return [place.step for place in self.places]

    @property
    def table(self) -> Any:
        """The training set as the learner sees it."""
        return copied(self.places[-1].X)

    def test_table(self, number: int, X: Any) -> Any:
        """Return the rows of the question with this number, as the learner sees them."""
        for place in self.places:
            if number not in place.test_tables:
                place.test_tables[number] = place.step.transform(copied(X))
            X = place.test_tables[number]
        return copied(X)


class Trie:
    """The fitted steps of one training set."""

    def __init__(self) -> None:
        self.places: dict[tuple[Hashable, ...], Place] = {}

    def begun(
        self,
        starts: Sequence[Start],
        cut: Callable[[], Any],
        y: np.ndarray | None,
        key: tuple[Hashable, ...] = (),
    ) -> Begun:
        """Fit the steps that are not yet in the trie, one after another, and return all of them.

        `cut` creates the training set, which a step may overwrite; `key` identifies its source.
        """
        places: list[Place] = []
        for start in starts:
            before, key = key, (*key, start.kind)
            if key not in self.places:
                read = self._read_off(start, before, cut, y)
                self.places[key] = read or _placed(start.step, cut, y)
            places.append(self.places[key])
            cut = partial(copied, places[-1].X)
            # Each candidate's own pipeline would issue these warnings.
            for category, text in places[-1].warned:
                warnings.warn(text, category, stacklevel=2)
        return Begun(tuple(start.name for start in starts), tuple(places))

    def _read_off(
        self,
        start: Start,
        before: tuple[Hashable, ...],
        cut: Callable[[], Any],
        y: np.ndarray | None,
    ) -> Place | None:
        """Derive a step from one fit for several settings, or return None if it needs its own."""
        reading = reading_of(start.step)
        if reading is None or start.but is None:
            return None
        key = (*before, start.but)
        if key not in self.places:
            value = reading.fitted_at(start.step, start.values, cut())
            if value is None:
                return None
            from sklearn.base import clone

            self.places[key] = _placed(
                clone(start.step).set_params(**{reading.parameter: value}), cut, y
            )
        one = self.places[key]
        read = reading.read(one.step, start.value, one.X)
        if read is None:
            return None
        fitted, table = read
        table = fitted.transform(cut()) if table is None else table
        return Place(fitted, table, one.warned)

    @property
    def n_bytes(self) -> int:
        """Size of the tables and of the arrays that the steps learned."""
        seen: set[int] = set()
        size = partial(_bytes, depth=DEPTH, seen=seen)
        return sum(size(one) for p in self.places.values() for one in (p.X, p.test_tables, p.step))


class Tries:
    """The tries of the training sets of plans; each is stored for later if there is room."""

    def __init__(self, room: int = ROOM) -> None:
        self.room = room
        self.by_fit: dict[tuple[str, int], Trie] = {}
        self._last: tuple[tuple[str, int], Trie] | None = None

    def trie_for(self, plan: Plan, fit: int) -> Trie:
        """Return the trie of one training set, and store the previous one if there is room."""
        key = plan.fingerprint, fit
        if self._last is not None and self._last[0] != key:
            self._weigh(*self._last)
            self._last = None
        if key in self.by_fit:
            return self.by_fit[key]
        if self._last is None:
            self._last = key, Trie()
        return self._last[1]

    def _weigh(self, key: tuple[str, int], trie: Trie) -> None:
        size = trie.n_bytes
        if size <= self.room:
            self.room -= size
            self.by_fit[key] = trie


def _placed(step: Any, cut: Callable[[], Any], y: np.ndarray | None) -> Place:
    """Fit a step on a table, which it may overwrite, and return it with its warnings."""
    with collect_warnings() as warned:
        table = fit_and_transform(step, cut(), y)
    return Place(step, table, warned)


def _bytes(value: Any, depth: int, seen: set[int]) -> int:
    if id(value) in seen or not depth:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return value.nbytes
    # A data frame: its strings belong to the user and are not counted.
    if hasattr(value, "memory_usage"):
        return int(np.sum(value.memory_usage(deep=False)))
    parts = list(value.values()) if isinstance(value, dict) else []
    parts += list(value) if isinstance(value, list | tuple) else []
    parts += list(getattr(value, "__dict__", {}).values())
    return sys.getsizeof(value) + sum(_bytes(part, depth - 1, seen) for part in parts)


class Starts:
    """The unfitted steps before the learner of each candidate of a family."""

    def __init__(self, family: Family) -> None:
        self.family = family

    def starts_for(self, steps: Sequence[tuple[str, Any]], candidate: int) -> list[Start]:
        """Return a candidate's steps before its learner, in their order."""
        return [
            self._start(name, step, candidate)
            for name, step in steps
            if step is not None and not (isinstance(step, str) and step == "passthrough")
        ]

    def _start(self, name: str, step: Any, candidate: int) -> Start:
        own = _params_of(self.family.candidates[candidate], name)
        drawn = _states(step) if self.family.is_random else ()
        kind = self._kind(name, own, drawn)
        reading = reading_of(step)
        parameter = "" if reading is None else reading.parameter
        if parameter not in own:
            return Start(name, step, kind)
        values = self._values(name, parameter, own)
        if len(values) < 2:
            return Start(name, step, kind)
        but = "for each", parameter, self._kind(name, _but(parameter, own), drawn)
        return Start(name, step, kind, but, own[parameter], values)

    def _kind(self, name: str, own: Mapping[str, Any], drawn: Hashable) -> Hashable:
        """Return a key that is equal for steps with equal settings and equal random states."""
        return self._as_given.get(name), _settings(own), drawn

    @cached_property
    def _as_given(self) -> dict[str, Hashable]:
        """Keys of the steps before a candidate's parameters are set."""
        return {name: _content(step) for name, step in self.family.estimator.steps[:-1]}

    def _values(self, name: str, parameter: str, own: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the values of a parameter among candidates that otherwise set the step alike."""
        like = _settings(_but(parameter, own))
        values = {}
        for given in self._given_of[name]:
            if parameter in given and _settings(_but(parameter, given)) == like:
                values[repr(given[parameter])] = given[parameter]
        return tuple(values.values())

    @cached_property
    def _given_of(self) -> dict[str, list[dict[str, Any]]]:
        names = [name for name, _ in self.family.estimator.steps[:-1]]
        return {n: [_params_of(params, n) for params in self.family.candidates] for n in names}


class SharedSteps:
    """The steps that the candidates of one fit share."""

    def __init__(self, starts: Starts, trie: Trie) -> None:
        self.starts, self.trie = starts, trie

    @classmethod
    def from_family(
        cls, family: Family, data: Data, n_candidates: int, trie: Trie | None = None
    ) -> SharedSteps | None:
        """Return the shared steps if sharing them leaves all results unchanged, else None.

        With a `trie` of the fit, other families may share the steps as well.
        """
        alone = n_candidates < 2 and trie is None
        if alone or not family.is_piped or not _is_shareable(family, data):
            return None
        return cls(Starts(family), Trie() if trie is None else trie)

    def begun(
        self, model: Any, candidate: int, cut: Callable[[], Any], y: np.ndarray | None
    ) -> Begun | None:
        """Fit a candidate's steps and set them in its model; return None if one fails."""
        starts = self.starts.starts_for(model.steps[:-1], candidate)
        try:
            begun = self.trie.begun(starts, cut, y)
        except BaseException as error:
            if not is_failure(error):
                raise
            return None
        fitted = begun.steps
        model.steps = [(name, fitted.get(name, step)) for name, step in model.steps]
        return begun if fitted else None


def known_steps(
    tries: Tries, family: Family, steps: Any, candidate: int
) -> Callable[[Plan, int], Begin | None]:
    """Return a function that finds, for each fit, the steps that another family fitted already."""
    from sklearn.base import clone

    starts = Starts(family).starts_for(steps.steps, candidate)

    def begun(plan: Plan, fit: int, n_closed: int, X: Any, y: np.ndarray) -> Begun:
        own = [replace(start, step=clone(start.step)) for start in starts[n_closed:]]
        before = ("in closed form", *(start.kind for start in starts[:n_closed]))
        return tries.trie_for(plan, fit).begun(
            own, partial(copied, X), y, before if n_closed else ()
        )

    return lambda plan, fit: partial(begun, plan, fit)


def beginning_alike(families: Mapping[str, Family]) -> set[str]:
    """Return the names of pipelines whose first step equals the first step of another one."""
    first: dict[Hashable, list[str]] = {}
    for name, family in families.items():
        if family.is_piped and len(family.estimator.steps) > 1:
            first.setdefault(_content(family.estimator.steps[0][1]), []).append(name)
    return {name for alike in first.values() if len(alike) > 1 for name in alike}


def _params_of(params: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a candidate's parameters of one step, by the step's names; "" is the step itself."""
    parts = ((n.partition("__"), value) for n, value in params.items())
    return {own: value for (step, _, own), value in parts if step == name}


def _but(parameter: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name != parameter}


def _settings(params: Mapping[str, Any]) -> Hashable:
    return tuple((name, _content(params[name])) for name in sorted(params))


def _states(step: Any) -> Hashable:
    """Return the random states of a step, which depend on the parameters that a candidate sets."""
    params = step.get_params(deep=True) if hasattr(step, "get_params") else {}
    return tuple((n, v) for n, v in sorted(params.items()) if n.endswith("random_state"))


class _Same:
    """Key of an object that equals itself only; it holds the object to keep its id unique."""

    def __init__(self, one: Any) -> None:
        self.content = one

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.content is other.content

    def __hash__(self) -> int:
        return id(self.content)


def _content(value: Any) -> Hashable:
    """Return a key that is equal for equal values, and for estimators with equal settings."""
    if value is None or isinstance(value, str | int | float | np.generic):
        return type(value), repr(value)
    if isinstance(value, list | tuple):
        return (type(value), *map(_content, value))
    if isinstance(value, slice):
        return slice, repr(value)
    if hasattr(value, "get_params") and not isinstance(value, type) and _is_cloned_by_params(value):
        params = parameters_of(value)
        # set by `set_output`, and not a parameter
        output = repr(getattr(value, "_sklearn_output_config", None))
        return (type(value), output, *((name, _content(params[name])) for name in sorted(params)))
    return _Same(value)


def _is_cloned_by_params(estimator: Any) -> bool:
    """Return True unless clones keep fitted state, as those of a FrozenEstimator do."""
    from sklearn.base import BaseEstimator

    own = getattr(type(estimator), "__sklearn_clone__", None)
    return own is None or own is BaseEstimator.__sklearn_clone__


def _is_shareable(family: Family, data: Data) -> bool:
    pipe = family.estimator
    if not is_exactly(pipe, PIPELINE) or len(pipe.steps) < 2 or "steps" in family.named:
        return False
    of_steps = any(not name.startswith(family.prefix) for name in data.fit_params)
    return why_not_apart(family) is None and not (of_steps or any(family.pairwise))
