"""From a method and the interval asked for to the method that draws what the interval needs."""

from __future__ import annotations

from dataclasses import replace

from truerisk.core.contracts import Method
from truerisk.core.errors import Refusal
from truerisk.methods.bootstrap import Bootstrap
from truerisk.methods.interval_forms import as_form
from truerisk.methods.kfold import KFold
from truerisk.methods.ncv import NestedInterval
from truerisk.methods.nested import Nested
from truerisk.methods.out_of_bag import OutOfBag
from truerisk.methods.paired_halves import PairedHalves

__all__ = ["REPEATS", "with_interval"]

REPEATS = 10  # of nested cross-validation, where the method has fewer


def with_interval(method: Method, word: str) -> Method:
    """The method itself if it offers the interval; else the one that draws the fits it needs.

    That is for K-fold words nested cross-validation or paired halves, for `oob` the bootstrap.

    >>> from truerisk.methods.words import as_method
    >>> with_interval(as_method("10-fold"), "wald").word
    '10-fold'
    >>> with_interval(as_method("10-fold"), "ncv").word
    'ncv (10x10-fold)'
    """
    as_form(word)
    if isinstance(method, Nested):
        return replace(method, outer=with_interval(method.outer_method, word))
    if word in method.offers:
        return method
    if type(method) is OutOfBag and word in (sampled := Bootstrap("oob")).offers:
        return sampled
    if type(method) is KFold:
        if word in NestedInterval.offers:
            return _nested(method, word)
        if word in PairedHalves.offers:
            share = 1 / method.k if method.folds is None else 0.1
            return PairedHalves(test_share=share, stratify=method.stratify)
    offered = ", ".join(f"'{each}'" for each in method.offers) or "none that can be asked for"
    raise Refusal(
        f"method '{method.word}' has no interval '{word}': it offers {offered}. "
        "'ncv', 'beta-ncv' and 'conservative-z' are made from K-fold words such as '10-fold'."
    )


def _nested(method: KFold, word: str) -> NestedInterval:
    """Nested cross-validation with the folds of a K-fold method; debiased for its own interval."""
    return NestedInterval(
        method.k,
        repeats=max(method.repeats, REPEATS),
        folds=method.folds,
        bias="bates" if word == "ncv" else None,
        stratify=method.stratify,
    )
