"""Fits that are equal are made once: what one has learned is given to the next.

For tests that ask one learner many questions about the same splits. Nothing but time is saved: a
fit is known by the learner's settings and by all that it is given, to the bit and in its order in
memory, and a fit that warns, fails or is random is made anew each time.
"""

import pickle
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np
import pytest

Known = dict[bytes, dict[str, Any]]


@contextmanager
def fitted_once(*learners: type, known: Known | None = None) -> Iterator[Known]:
    """Within it, equal fits of these classes are made once; `known` is what was learned before."""
    known = {} if known is None else known
    with pytest.MonkeyPatch.context() as patch:
        for learner in learners:
            patch.setattr(learner, "fit", _remembering(learner, known))
        yield known


def _remembering(learner: type, known: Known) -> Any:
    fit = learner.fit

    @wraps(fit)
    def fitted(self: Any, *given: Any, **named: Any) -> Any:
        key = _key(self, given, named) if type(self) is learner else None
        if key is None:
            return fit(self, *given, **named)
        if key not in known:
            with warnings.catch_warnings(record=True) as heard:
                fit(self, *given, **named)
            if heard:
                return _again(heard, self)
            known[key] = dict(vars(self))
        vars(self).update(known[key])
        return self

    return fitted


def _key(learner: Any, given: tuple[Any, ...], named: dict[str, Any]) -> bytes | None:
    """All that a fit depends on; None where that cannot be told, or is random."""
    arrays = [*given, *named.values()]
    plain = all(isinstance(a, np.ndarray) and a.dtype != object for a in arrays)
    if not plain or not isinstance(getattr(learner, "random_state", 0), int):
        return None
    layouts = [(a.dtype.str, a.shape, a.strides, a.tobytes()) for a in arrays]
    return pickle.dumps((type(learner), vars(learner), layouts, list(named)))


def _again(heard: list[warnings.WarningMessage], self: Any) -> Any:
    """What was heard is said."""
    for one in heard:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return self
