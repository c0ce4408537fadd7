"""What a search by a race cannot tell besides, since it does not make every fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.core.arguments import is_number, shown
from truerisk.core.contracts import Method
from truerisk.core.errors import BadArgument
from truerisk.methods.racing import Racing

__all__ = ["check_race"]


def check_race(select_by: Method, error_score: Any, *, return_train_score: bool) -> None:
    """Refuse what would need the fits that a race spares."""
    if not isinstance(select_by, Racing):
        return
    if return_train_score:
        raise BadArgument(
            f"return_train_score=True asks every fit of every setting about its own rows, and "
            f"'{select_by.word}' does not make them all: leave one of them out."
        )
    if is_number(error_score) and not np.isnan(float(error_score)):
        raise BadArgument(
            f"error_score={shown(error_score)} is the score of fits that failed, and would be that "
            f"of fits that '{select_by.word}' never made: use error_score=numpy.nan."
        )
