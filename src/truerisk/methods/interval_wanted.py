"""From a method and the interval asked for to the method that draws what the interval needs."""

from __future__ import annotations

from collections.abc import Callable

from truerisk.contracts import Method
from truerisk.intervals import as_form
from truerisk.methods.bootstrap import Bootstrap
from truerisk.methods.holdout import PairedHalves
from truerisk.methods.kfold import KFold
from truerisk.methods.ncv import NestedInterval
from truerisk.methods.nested import Nested, Pairs
from truerisk.methods.parts.procedure import Procedure
from truerisk.methods.single_fit import OutOfBag
from truerisk.results.interval import OF_PLANS, Basis

REPEATS = 10  # of nested cross-validation, where the method has fewer


def with_interval(method: Method, word: str) -> Method:
    """The method that draws the fits which an interval needs; the method itself if there is none.

    That is for K-fold words nested cross-validation or paired halves, for `oob` the bootstrap.

    >>> from truerisk.methods.words import as_method
    >>> with_interval(as_method("10-fold"), "wald").word
    '10-fold'
    >>> with_interval(as_method("10-fold"), "ncv").word
    'ncv (10x10-fold)'
    """
    if isinstance(method, Procedure):
        return of_procedure(method, word)
    need = _lacking(method, word)
    draw = None if need is None else DRAWN_INSTEAD.get((type(method), need))
    return method if draw is None else draw(method, word)


def of_procedure(method: Procedure, word: str) -> Procedure:
    """The procedure itself if its outer tests give what the interval needs, else another one."""
    if isinstance(method, Pairs) and _lacking(method, word) is None:
        return method
    return Nested(with_interval(method.outer_method, word), method.inner_method, method.compare)


def _lacking(method: Method, word: str) -> Basis | None:
    """The first kind of answers that the interval needs and the method does not give."""
    return as_form(word).lacking(method.gives | OF_PLANS)


def _nested(method: KFold, word: str) -> NestedInterval:
    """Nested cross-validation with the folds of a K-fold method; debiased for its own interval."""
    return NestedInterval(
        method.k,
        repeats=max(method.repeats, REPEATS),
        folds=method.folds,
        bias="bates" if word == "ncv" else None,
        stratify=method.stratify,
    )


def _halves(method: KFold, word: str) -> PairedHalves:
    """Test sets of the size of a fold, in all rows and in halves of them."""
    share = 1 / method.k if method.folds is None else 0.1
    return PairedHalves(test_share=share, stratify=method.stratify)


DRAWN_INSTEAD: dict[tuple[type[Method], Basis], Callable[..., Method]] = {
    (KFold, Basis.PAIRS): _nested,
    (KFold, Basis.HALVES): _halves,
    (OutOfBag, Basis.SAMPLES): lambda method, word: Bootstrap("oob"),
}
