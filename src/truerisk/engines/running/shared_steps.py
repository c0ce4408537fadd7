"""The steps of a pipeline before its learner, fitted once for all candidates that begin alike.

Candidates that differ in the learner only are fitted on one and the same table; those that differ
in the third step share the first two: a trie over the settings of the steps, one for each train
set. Settings of a step that one fit of it answers (k columns, n components) are read off that.
What a candidate answers is what its own pipeline would, since a step is shared only where nothing
could tell: the pipeline is scikit-learn's own and plain, it keeps no cache, prints nothing, has no
callbacks, and no step takes a fit parameter. A step that fails is left to the pipeline, which says
so in its words.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truerisk.core.errors import is_failure
from truerisk.core.family import Family
from truerisk.core.identity import PIPELINE, is_exactly
from truerisk.core.table.data import Data
from truerisk.engines.preparation.apart import why_not_apart
from truerisk.engines.preparation.fitted import fit_and_transform
from truerisk.engines.preparation.read_off import reading_of
from truerisk.engines.running.answering import copied
from truerisk.engines.running.fit_warnings import Warned, kept_warnings
from truerisk.engines.settings import key_of

__all__ = ["Begun", "SharedSteps"]

Key = tuple[str, ...]


@dataclass(eq=False)
class _Place:
    """A fitted step at one place of the trie: its table, and what it makes of asked rows."""

    name: str
    step: Any
    X: Any
    warned: list[Warned]
    asked: dict[int, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Begun:
    """The steps before one candidate's learner, fitted: its table, and asked rows as it sees them.

    Nobody writes into what others get: a learner is given copies.
    """

    places: tuple[_Place, ...]

    @property
    def table(self) -> Any:
        """The train set as the learner sees it."""
        return copied(self.places[-1].X)

    def asked(self, number: int, X: Any) -> Any:
        """The rows of the test with this number as the learner sees them."""
        for place in self.places:
            if number not in place.asked:
                place.asked[number] = place.step.transform(copied(X))
            X = place.asked[number]
        return copied(X)


class SharedSteps:
    """The trie of one fit."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.places: dict[Key, _Place] = {}

    @classmethod
    def of(cls, family: Family, data: Data, n_candidates: int) -> SharedSteps | None:
        """Where several candidates of a fit may share steps, and nothing could tell; else None."""
        alone = n_candidates < 2 or not family.is_piped
        return None if alone or not _is_shareable(family, data) else cls(family)

    def begun(self, model: Any, candidate: int, X: Any, y: np.ndarray | None) -> Begun | None:
        """The steps of a candidate's model, fitted, which it then holds; None where one fails."""
        try:
            found = self._walk(model, candidate, X, y)
        except BaseException as error:
            if not is_failure(error):
                raise
            return None
        fitted = {place.name: place.step for place in found}
        model.steps = [(name, fitted.get(name, step)) for name, step in model.steps]
        return Begun(tuple(found)) if found else None

    def _walk(self, model: Any, candidate: int, X: Any, y: np.ndarray | None) -> list[_Place]:
        found: list[_Place] = []
        key: Key = ()
        for name, step in model.steps[:-1]:
            if step is None or (isinstance(step, str) and step == "passthrough"):
                continue
            before, key = key, (*key, f"{name}: {key_of(self._own(model, candidate, name))}")
            if key not in self.places:
                read = self._read_off(before, model, candidate, name, X, y)
                self.places[key] = read or _placed(name, step, X, y)
            place = self.places[key]
            for category, text in place.warned:  # each candidate's pipeline would say so
                warnings.warn(text, category, stacklevel=2)
            X = place.X
            found.append(place)
        return found

    def _own(self, model: Any, candidate: int, name: str) -> dict[str, Any]:
        """What a candidate sets one step to, the state of its random numbers included."""
        own = _given(self.family.candidates[candidate], name)
        return own | _states(model, name) if self.family.is_random else own

    def _read_off(
        self, before: Key, model: Any, candidate: int, name: str, X: Any, y: np.ndarray | None
    ) -> _Place | None:
        """A step as one fit for several of its settings gives it; None where it has its own."""
        step, own = model.named_steps[name], self._own(model, candidate, name)
        reading = reading_of(step)
        parameter = "" if reading is None else f"{name}__{reading.parameter}"
        if reading is None or parameter not in own:
            return None
        key = (*before, f"{name} for each {parameter}: {key_of(_but(parameter, own))}")
        if key not in self.places:
            values = self._values(candidate, name, parameter)
            value = reading.fitted_at(step, values, X) if len(values) > 1 else None
            if value is None:
                return None
            self.places[key] = _placed(name, _set_to(step, reading.parameter, value), X, y)
        one = self.places[key]
        read = reading.read(one.step, own[parameter], one.X)
        if read is None:
            return None
        fitted, table = read
        return _Place(
            name, fitted, fitted.transform(copied(X)) if table is None else table, one.warned
        )

    def _values(self, candidate: int, name: str, parameter: str) -> list[Any]:
        """Of one parameter, among the candidates that set the step alike but for it."""
        given = [_given(params, name) for params in self.family.candidates]
        like = key_of(_but(parameter, given[candidate]))
        alike = [own for own in given if parameter in own and key_of(_but(parameter, own)) == like]
        return list({repr(own[parameter]): own[parameter] for own in alike}.values())


def _placed(name: str, step: Any, X: Any, y: np.ndarray | None) -> _Place:
    """A step fitted on a table, which it may write into, and what it says."""
    with kept_warnings() as warned:
        table = fit_and_transform(step, copied(X), y)
    return _Place(name, step, table, warned)


def _set_to(step: Any, parameter: str, value: Any) -> Any:
    from sklearn.base import clone

    return clone(step).set_params(**{parameter: value})


def _given(params: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What a candidate sets of one step."""
    return {n: v for n, v in params.items() if n == name or n.startswith(f"{name}__")}


def _but(parameter: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name != parameter}


def _states(model: Any, name: str) -> dict[str, Any]:
    """What random numbers a step starts from: they depend on which parameters a candidate has."""
    step = model.named_steps[name]
    params = step.get_params(deep=True) if hasattr(step, "get_params") else {}
    return {f"{name}__{n}": v for n, v in params.items() if n.endswith("random_state")}


def _is_shareable(family: Family, data: Data) -> bool:
    pipe = family.estimator
    if not is_exactly(pipe, PIPELINE) or len(pipe.steps) < 2 or "steps" in family.named:
        return False
    of_steps = any(not name.startswith(family.prefix) for name in data.fit_params)
    return why_not_apart(family) is None and not (of_steps or any(family.pairwise))
