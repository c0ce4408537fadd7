"""What a closed form is: fitted on a train set it gives its rows, and a function for other rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from truerisk.engines.preparation.closed.table import Table

__all__ = ["Apply", "Fitted", "Form", "fitted"]

Apply: TypeAlias = Callable[[Table], Table]
Fitted: TypeAlias = tuple[Table, Apply]
Form: TypeAlias = Callable[[Table, np.ndarray], Fitted]


def fitted(table: Table, apply: Apply) -> Fitted:
    """A train set as what was fitted on it gives it, and what it makes of other rows."""
    return apply(table), apply
