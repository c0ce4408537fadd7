"""The steps of a pipeline before its learner, fitted once for all candidates that begin alike.

Candidates that differ in the learner only are fitted on one and the same table; those that differ
in the third step share the first two: a trie over the settings of the steps, one for each train
set. What a candidate answers is what its own pipeline would, since a step is shared only
where nothing could tell: the pipeline is scikit-learn's own and plain, it keeps no cache, prints
nothing, has no callbacks, and no step takes a fit parameter. A step that fails is left to the
pipeline, which says so in its words.
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
            key = (*key, self._key(model, candidate, name))
            place = self.places.get(key)
            if place is None:
                with kept_warnings() as warned:
                    X = fit_and_transform(step, copied(X), y)
                place = self.places[key] = _Place(name, step, X, warned)
            for category, text in place.warned:  # each candidate's pipeline would say so
                warnings.warn(text, category, stacklevel=2)
            X = place.X
            found.append(place)
        return found

    def _key(self, model: Any, candidate: int, name: str) -> str:
        """Equal for candidates that set one step alike, its random numbers included."""
        given = self.family.candidates[candidate]
        own = {n: v for n, v in given.items() if n == name or n.startswith(f"{name}__")}
        if self.family.is_random:
            own |= _states(model, name)
        return f"{name}: {key_of(own)}"


def _states(model: Any, name: str) -> Mapping[str, Any]:
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
