"""Arrays in, arrays out: the loops that NumPy cannot take over, compiled.

========================  ==========================================================
file                      what it holds
========================  ==========================================================
``votes.py``              k-nearest-neighbour votes for every k from one sorted list
``neighbours.py``         the nearest rows of every query: one product and a selection, or a sort
``walk.py``               lists of neighbours walked for every fit of a plan
``intervals.py``          least errors with at most k intervals on the line, for every k
``logistic.py``           the path of penalised logistic regression, all penalties at once
``spectral.py``           penalised least squares in a diagonal basis, every penalty (NumPy)
``leverage.py``           every row left out of it (NumPy)
``lbfgs.py``              L-BFGS-B on logistic regression, step by step as SciPy takes them
``svm_steps.py``          support vectors on one Gram matrix by libsvm's own steps, to the last bit
``normal_equations.py``   least squares without blocks of rows; the elastic net by descent
``trees.py``              scikit-learn's trees on many samples of one table
``row_sums.py``           checksums of rows, in one pass at the speed of memory
``delimited_text.py``     delimited text cut into cells, numbers and distinct cells
``_native.cpp``           the compiled loops, one Python caller each
``_native.pyi``           their types
========================  ==========================================================

The caller in Python checks shapes and bounds; the loop trusts them. Nothing here falls back on
NumPy in silence: without the compiled module `available` is False, `why_not` holds the reason, and
a kernel raises `truerisk.core.errors.Refusal`. An engine asks first and passes the reason on.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from truerisk.core.errors import Refusal

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["available", "native", "why_not"]

NATIVE = "truerisk.kernels._native"


@cache
def attempt() -> tuple[ModuleType | None, str | None]:
    """The compiled module and no reason, or no module and the reason; tried once."""
    try:
        return import_module(NATIVE), None
    except ImportError as error:
        return None, f"the compiled module {NATIVE} cannot be imported ({error})"


def available() -> bool:
    """Whether the compiled kernels can be called."""
    return attempt()[0] is not None


def why_not() -> str | None:
    """Why the compiled kernels cannot be called; None when they can."""
    return attempt()[1]


def native() -> ModuleType:
    """The compiled module.

    Raises
    ------
    Refusal
        When it cannot be imported; the message holds the reason and the remedy.
    """
    module, reason = attempt()
    if module is None:
        raise Refusal(
            f"{reason}. Install a wheel of truerisk, or build it with a C++17 compiler "
            "(`make setup` in a clone); engine='generic' gives the same numbers without it."
        )
    return module
