"""A question to fitted models: each answers by its own method, or by the formula of its class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from truerisk.core.errors import Refusal
from truerisk.core.identity import PIPELINE, entry_of, is_exactly
from truerisk.models.searches import answers_by_its_best

__all__ = ["INSTEAD", "Question", "rows_of_last_step"]

INSTEAD = "use a method that holds rows out, such as '10-fold'."
Answer = TypeVar("Answer")


def rows_of_last_step(pipeline: Any, X: Any) -> Any:
    """The rows as the steps of a fitted pipeline make them for its last one."""
    return pipeline[:-1].transform(X) if len(pipeline.steps) > 1 else X


@dataclass(frozen=True)
class Question(Generic[Answer]):
    """A table of classes and their formulas, which are called as the question is.

    A model that has a method named `method` answers for itself, by `own`; a pipeline answers as its
    last step does to the rows that `rows` makes for it, and with `into_searches` a search as its
    best model. For a model of any other class than those of the table, a subclass included
    (`core/identity.py`), `unknown` answers, or says in a sentence why it is refused.
    """

    method: str
    own: Callable[..., Answer]
    formulas: Mapping[str, Callable[..., Answer]]
    unknown: Callable[..., Answer | str]
    rows: Callable[[Any, Any], Any] = rows_of_last_step
    into_searches: bool = False

    def __call__(self, model: Any, X: Any, *given: Any) -> Answer:
        if callable(getattr(model, self.method, None)):
            return self.own(model, X, *given)
        if is_exactly(model, PIPELINE):
            return self(model[-1], self.rows(model, X), *given)
        if self.into_searches and answers_by_its_best(model):
            return self(model.best_estimator_, X, *given)
        answer = (entry_of(model, self.formulas) or self.unknown)(model, X, *given)
        if isinstance(answer, str):
            raise Refusal(answer)
        return answer
