"""The steps of a pipeline before its learner, fitted once for all candidates that begin alike.

Candidates that differ in the learner only are fitted on one and the same table; those that differ
in the third step share the first two: a trie over the settings of the steps, one for each train
set. Settings of a step that one fit of it answers (k columns, n components) are read off that. The
learners of one assessment share their steps as well.

What a candidate answers is what its own pipeline would, since a step is shared only where nothing
could tell: the pipeline is scikit-learn's own and plain, it keeps no cache, prints nothing, has no
callbacks, and no step takes a fit parameter. A step that fails is left to the pipeline, which says
so in its words.
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
from truerisk.core.identity import PIPELINE, is_exactly
from truerisk.data.data import Data
from truerisk.data.rows import copied
from truerisk.engines.prepared import Begin, fit_and_transform
from truerisk.engines.running.fit_warnings import Warned, kept_warnings
from truerisk.engines.running.read_off import reading_of
from truerisk.engines.settings import why_not_apart
from truerisk.plan.plan import Plan

ROOM = 256 * 2**20  # bytes of tables that are kept for learners to come
DEPTH = 4  # how far a fitted step is looked into for its arrays


@dataclass(frozen=True)
class Start:
    """One step of a candidate before its learner: not fitted, with its seed.

    `kind` is equal for steps that are set alike. Where the grid has several values of a parameter
    that are read off one fit, `but` is the kind without it, and `value` is this step's.
    """

    name: str
    step: Any
    kind: Hashable
    but: Hashable = None
    value: Any = None
    values: tuple[Any, ...] = ()


@dataclass(eq=False)
class Place:
    """A fitted step at one place of the trie: its table, and what it makes of asked rows."""

    step: Any
    X: Any
    warned: list[Warned]
    test_tables: dict[int, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Begun:
    """The steps before one candidate's learner, fitted: its table, and asked rows as it sees them.

    Nobody writes into what others get: a learner is given copies.
    """

    names: tuple[str, ...]
    places: tuple[Place, ...]

    @property
    def steps(self) -> dict[str, Any]:
        """The fitted steps by their names."""
        return dict(zip(self.names, self.fitted, strict=True))

    @property
    def fitted(self) -> list[Any]:
        """The fitted steps, in their order."""
        return [place.step for place in self.places]

    @property
    def table(self) -> Any:
        """The train set as the learner sees it."""
        return copied(self.places[-1].X)

    def test_table(self, number: int, X: Any) -> Any:
        """The rows of the question with this number, as the learner sees them."""
        for place in self.places:
            if number not in place.test_tables:
                place.test_tables[number] = place.step.transform(copied(X))
            X = place.test_tables[number]
        return copied(X)


class Trie:
    """The fitted steps of one train set."""

    def __init__(self) -> None:
        self.places: dict[tuple[Hashable, ...], Place] = {}

    def begun(
        self,
        starts: Sequence[Start],
        cut: Callable[[], Any],
        y: np.ndarray | None,
        key: tuple[Hashable, ...] = (),
    ) -> Begun:
        """The steps fitted one after the other, those that are new.

        `cut` makes the train set, which a step may write into; `key` is what it comes from.
        """
        places: list[Place] = []
        for start in starts:
            before, key = key, (*key, start.kind)
            if key not in self.places:
                read = self._read_off(start, before, cut, y)
                self.places[key] = read or _placed(start.step, cut, y)
            places.append(self.places[key])
            cut = partial(copied, places[-1].X)
            for category, text in places[-1].warned:  # each candidate's pipeline would say so
                warnings.warn(text, category, stacklevel=2)
        return Begun(tuple(start.name for start in starts), tuple(places))

    def _read_off(
        self,
        start: Start,
        before: tuple[Hashable, ...],
        cut: Callable[[], Any],
        y: np.ndarray | None,
    ) -> Place | None:
        """A step as one fit for several of its settings gives it; None where it has its own."""
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
        """Of the tables, and of what the steps learnt, as far as it is arrays."""
        seen: set[int] = set()
        size = partial(_bytes, depth=DEPTH, seen=seen)
        return sum(size(one) for p in self.places.values() for one in (p.X, p.test_tables, p.step))


class Tries:
    """The tries of the train sets of plans, each kept for later while there is room for it."""

    def __init__(self, room: int = ROOM) -> None:
        self.room = room
        self.by_fit: dict[tuple[str, int], Trie] = {}
        self._last: tuple[tuple[str, int], Trie] | None = None

    def of(self, plan: Plan, fit: int) -> Trie:
        """The trie of one train set; the one before it is weighed then."""
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
    """A step fitted on a table, which it may write into, and what it says."""
    with kept_warnings() as warned:
        table = fit_and_transform(step, cut(), y)
    return Place(step, table, warned)


def _bytes(value: Any, depth: int, seen: set[int]) -> int:
    if id(value) in seen or not depth:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return value.nbytes
    if hasattr(value, "memory_usage"):  # a frame, whose texts are the user's own
        return int(np.sum(value.memory_usage(deep=False)))
    parts = list(value.values()) if isinstance(value, dict) else []
    parts += list(value) if isinstance(value, list | tuple) else []
    parts += list(getattr(value, "__dict__", {}).values())
    return sys.getsizeof(value) + sum(_bytes(part, depth - 1, seen) for part in parts)


class Starts:
    """How the candidates of a family begin."""

    def __init__(self, family: Family) -> None:
        self.family = family

    def of(self, steps: Sequence[tuple[str, Any]], candidate: int) -> list[Start]:
        """Those of a candidate's steps before its learner, in their order."""
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
        """Equal for steps that are set alike, their random numbers included."""
        return self._as_given.get(name), _settings(own), drawn

    @cached_property
    def _as_given(self) -> dict[str, Hashable]:
        """What the steps are before a candidate is set."""
        return {name: _content(step) for name, step in self.family.estimator.steps[:-1]}

    def _values(self, name: str, parameter: str, own: Mapping[str, Any]) -> tuple[Any, ...]:
        """Of one parameter, among the candidates that set the step alike but for it."""
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
    """The steps that candidates of one fit share."""

    def __init__(self, starts: Starts, trie: Trie) -> None:
        self.starts, self.trie = starts, trie

    @classmethod
    def of(
        cls, family: Family, data: Data, n_candidates: int, trie: Trie | None = None
    ) -> SharedSteps | None:
        """Where several candidates of a fit may share steps, and nothing could tell; else None.

        With a `trie` of the fit, others may share them as well.
        """
        alone = n_candidates < 2 and trie is None
        if alone or not family.is_piped or not _is_shareable(family, data):
            return None
        return cls(Starts(family), Trie() if trie is None else trie)

    def begun(
        self, model: Any, candidate: int, cut: Callable[[], Any], y: np.ndarray | None
    ) -> Begun | None:
        """The steps of a candidate's model, fitted, which it then holds; None where one fails."""
        starts = self.starts.of(model.steps[:-1], candidate)
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
    """For each fit, how a pipeline of unfitted steps finds those that others fitted."""
    from sklearn.base import clone

    starts = Starts(family).of(steps.steps, candidate)

    def begun(plan: Plan, fit: int, n_closed: int, X: Any, y: np.ndarray) -> Begun:
        own = [replace(start, step=clone(start.step)) for start in starts[n_closed:]]
        before = ("in closed form", *(start.kind for start in starts[:n_closed]))
        return tries.of(plan, fit).begun(own, partial(copied, X), y, before if n_closed else ())

    return lambda plan, fit: partial(begun, plan, fit)


def beginning_alike(families: Mapping[str, Family]) -> set[str]:
    """The names of pipelines of which another one has the same first step."""
    first: dict[Hashable, list[str]] = {}
    for name, family in families.items():
        if family.is_piped and len(family.estimator.steps) > 1:
            first.setdefault(_content(family.estimator.steps[0][1]), []).append(name)
    return {name for alike in first.values() if len(alike) > 1 for name in alike}


def _params_of(params: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What a candidate sets of one step, by the step's own words; "" is the step itself."""
    parts = ((n.partition("__"), value) for n, value in params.items())
    return {own: value for (step, _, own), value in parts if step == name}


def _but(parameter: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name != parameter}


def _settings(params: Mapping[str, Any]) -> Hashable:
    return tuple((name, _content(params[name])) for name in sorted(params))


def _states(step: Any) -> Hashable:
    """What random numbers a step starts from: they depend on which parameters a candidate has."""
    params = step.get_params(deep=True) if hasattr(step, "get_params") else {}
    return tuple((n, v) for n, v in sorted(params.items()) if n.endswith("random_state"))


class _Same:
    """An object that is alike to itself only; it is held, so that no other takes its place."""

    def __init__(self, one: Any) -> None:
        self.content = one

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.content is other.content

    def __hash__(self) -> int:
        return id(self.content)


def _content(value: Any) -> Hashable:
    """Equal for equal settings, and estimators that are set alike."""
    if value is None or isinstance(value, str | int | float | np.generic):
        return type(value), repr(value)
    if isinstance(value, list | tuple):
        return (type(value), *map(_content, value))
    if isinstance(value, slice):
        return slice, repr(value)
    if hasattr(value, "get_params") and not isinstance(value, type) and _is_cloned_by_params(value):
        params = parameters_of(value)
        output = repr(getattr(value, "_sklearn_output_config", None))  # of `set_output`
        return (type(value), output, *((name, _content(params[name])) for name in sorted(params)))
    return _Same(value)


def _is_cloned_by_params(estimator: Any) -> bool:
    """Not so a FrozenEstimator, whose clones keep what it learnt."""
    from sklearn.base import BaseEstimator

    own = getattr(type(estimator), "__sklearn_clone__", None)
    return own is None or own is BaseEstimator.__sklearn_clone__


def _is_shareable(family: Family, data: Data) -> bool:
    pipe = family.estimator
    if not is_exactly(pipe, PIPELINE) or len(pipe.steps) < 2 or "steps" in family.named:
        return False
    of_steps = any(not name.startswith(family.prefix) for name in data.fit_params)
    return why_not_apart(family) is None and not (of_steps or any(family.pairwise))
