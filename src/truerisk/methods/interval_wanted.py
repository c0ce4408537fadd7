"""From a method and the interval asked for to the method that draws what the interval needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from truerisk.core.contracts import Method
from truerisk.core.errors import Refusal
from truerisk.core.interval import OF_TESTS, Basis
from truerisk.core.plan.plan import Plan
from truerisk.methods.bootstrap import Bootstrap
from truerisk.methods.interval_forms import IntervalForm, as_form, registry
from truerisk.methods.interval_forms.evidence import tests_of
from truerisk.methods.kfold import KFold
from truerisk.methods.ncv import NestedInterval
from truerisk.methods.nested import Nested
from truerisk.methods.out_of_bag import OutOfBag
from truerisk.methods.paired_halves import PairedHalves
from truerisk.methods.pairs import Pairs
from truerisk.methods.parts.procedure import Procedure

__all__ = ["REPEATS", "check_tests", "of_procedure", "offered", "with_interval"]

REPEATS = 10  # of nested cross-validation, where the method has fewer


def offered(method: Method) -> list[str]:
    """The words of the intervals that the answers of a method give all they need.

    >>> from truerisk.methods.words import as_method
    >>> offered(as_method("holdout"))
    ['wald', 'bbc', 'spatial', 'beta']
    """
    return [word for word in registry if _serves(as_form(word), method)]


def _serves(form: IntervalForm[Any], method: Method) -> bool:
    """Whether the answers give all it needs; if rows depend on those before, only by `hac`."""
    if method.respects_time and Basis.TIMES not in form.needs:
        return False
    return form.lacking(method.gives) is None


def with_interval(method: Method, word: str) -> Method:
    """The method itself if it gives what the interval needs; else the one that draws those fits.

    That is for K-fold words nested cross-validation or paired halves, for `oob` the bootstrap.

    >>> from truerisk.methods.words import as_method
    >>> with_interval(as_method("10-fold"), "wald").word
    '10-fold'
    >>> with_interval(as_method("10-fold"), "ncv").word
    'ncv (10x10-fold)'
    """
    form = as_form(word)
    if isinstance(method, Procedure):
        return of_procedure(method, word)
    need = form.lacking(method.gives)
    if method.respects_time and not _serves(form, method):
        raise Refusal(
            f"interval '{word}' needs rows that do not depend on each other, which method "
            f"'{method.word}' (it offers 'hac') cannot give: it tests rows in the order of time."
        )
    draw = None if need is None else DRAWN_INSTEAD.get((type(method), need))
    if draw is not None:
        return draw(method, word)
    words = ", ".join(f"'{each}'" for each in offered(method)) or "none that can be asked for"
    form.require(method.gives, f"method '{method.word}' (it offers {words})")
    return method


def check_tests(method: Method, plan: Plan, word: str) -> None:
    """Refuse an interval that needs rows to be tested otherwise than the drawn plan tests them.

    What splits of others, or cut training sets, will do is not known before; no fit is made yet.
    """
    form = as_form(word)
    if not OF_TESTS & form.needs.keys():
        return
    if isinstance(method, Procedure):
        plan, method = plan.only(plan.questions("outer")), method.outer_method
    form.require(method.gives - (OF_TESTS - tests_of(plan)), "this plan")


def of_procedure(method: Procedure, word: str) -> Procedure:
    """The procedure itself if its outer tests give what the interval needs, else another one."""
    if isinstance(method, Pairs) and as_form(word).lacking(method.gives) is None:
        return method
    return Nested(with_interval(method.outer_method, word), method.inner_method, method.compare)


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
