"""Whether a kernel does what the installed scikit-learn does, problem by problem."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

__all__ = ["agrees_on_all"]

T = TypeVar("T")


def agrees_on_all(agrees: Callable[[T], bool], problems: Iterable[T]) -> bool:
    """Whether it agrees on all problems; one that fails is not what was compared.

    Another release may have other parameters, or refuse a table: whatever it does, the kernel
    does not follow it.
    """
    try:
        return all(map(agrees, problems))
    except Exception:  # noqa: BLE001  whatever another release raises
        return False
