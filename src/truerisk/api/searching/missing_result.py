"""What stands for a fitted attribute that a search was not asked for."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, overload

from truerisk.core.errors import MissingResult

__all__ = ["Missing"]

Result = TypeVar("Result")


class Missing(Generic[Result]):
    """Stands in a class for a result that `fit` may leave out, and says why it is not there.

    An instance that has the result hides it: this descriptor has no `__set__`. What is `of_grid`
    a search does not tell that was given in the place of a model and a grid.
    """

    def __init__(self, option: str, means: str, instead: str, *, of_grid: bool = False) -> None:
        self.option, self.means, self.instead = option, means, instead
        self.of_grid = of_grid

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, search: None, owner: type) -> Missing[Result]: ...
    @overload
    def __get__(self, search: object, owner: type) -> Result: ...
    def __get__(self, search: Any, owner: type) -> Any:
        if search is None:
            return self
        if "loss_" not in vars(search):
            raise MissingResult(f"this search has no {self.name} before it is fitted: fit(X, y).")
        if self.of_grid and "search_" in vars(search):
            kind = type(search.search_).__name__
            raise MissingResult(
                f"{kind} chooses inside each of its fits and says what it tried in cv_results_ "
                f"only, so there is no {self.name}: give a model and a grid (or distributions and "
                "n_iter) in its place."
            )
        raise MissingResult(
            f"this search was made with {self.option}, which {self.means}, so it has no "
            f"{self.name}: make it with {self.instead}, and fit again."
        )
