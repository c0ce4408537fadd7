"""Learners in an order of their own: which comes first of equal ones is no matter of the caller's.

A dict of learners is a set to those who write it. So neither its order nor its names may choose.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from truerisk.core.family import Family
from truerisk.core.ties import tied_groups

__all__ = ["by_text", "ranked"]

ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")


def by_text(families: Mapping[str, Family]) -> list[str]:
    """Names, sorted by class, parameters and settings of their learners as they are written."""
    return sorted(families, key=lambda name: _text(families[name]))


def ranked(risks: Mapping[str, float | None], order: Sequence[str]) -> list[str]:
    """Names by risk, the smallest first, those without one last; equal risks in the given order.

    >>> ranked({"a": 0.2, "b": None, "c": 0.1, "d": 0.1 + 1e-15}, ["d", "c", "b", "a"])
    ['d', 'c', 'a', 'b']
    """
    values = [np.inf if (risk := risks[name]) is None else risk for name in order]
    return [order[at] for group in tied_groups(values) for at in group]


def _text(family: Family) -> str:
    kind = type(family.estimator)
    params = sorted(family.estimator.get_params(deep=True).items())
    text = f"{kind.__module__}.{kind.__qualname__} {params} {family.candidates}"
    return ADDRESS.sub("", text)
