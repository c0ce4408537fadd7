"""What a closed form is: fitted on a train set it gives its rows, and a function for other rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, TypeAlias

import numpy as np

from truerisk.engines.preparation.closed.step_tables import Refused, Table

Apply: TypeAlias = Callable[[Table], Table]
Fitted: TypeAlias = tuple[Table, Apply]
Form: TypeAlias = Callable[[Table, np.ndarray], Fitted]


def fitted(table: Table, apply: Apply) -> Fitted:
    """A train set as what was fitted on it gives it, and what it makes of other rows."""
    return apply(table), apply


Accepts = Callable[[Any], bool]


def known_parameters(step: Any, accepted: Mapping[str, Accepts]) -> dict[str, Any]:
    """Its parameters; refused where one is not accepted, or not at its default and not known.

    A step that holds anything besides its parameters (`set_output`) may do otherwise.
    """
    given = step.get_params(deep=False)
    if vars(step).keys() != given.keys():
        raise Refused("a step that holds more than its parameters")
    defaults = {name: one.default for name, one in signature(type(step)).parameters.items()}
    for name, value in given.items():
        accepts = accepted.get(name)
        known = value is defaults.get(name) if accepts is None else accepts(value)
        if not known:
            raise Refused(f"{type(step).__name__}({name}=...)")
    return {**dict.fromkeys(accepted), **given}


def flag(value: Any) -> bool:
    """Whether a parameter is True or False itself."""
    return value is True or value is False


def is_none(value: Any) -> bool:
    """Whether a parameter is None."""
    return value is None


def is_nan(value: Any) -> bool:
    """Whether a parameter is a NaN."""
    return isinstance(value, float) and bool(np.isnan(value))


def one_of(*words: str) -> Accepts:
    """A test for one of these words."""
    return lambda value: isinstance(value, str) and value in words
