"""Warnings that point to the line of the user, however deep inside they arise."""

from __future__ import annotations

import contextlib
import inspect
import os
import warnings
from pathlib import Path

__all__ = ["warn"]

INSIDE = (f"{Path(__file__).parents[1]}{os.sep}", str(contextlib.__file__))


def warn(text: str, category: type[Warning]) -> None:
    """Warn at the first line outside of this package."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level - (frame is None))
