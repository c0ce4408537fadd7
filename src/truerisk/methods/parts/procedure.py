"""What methods share that tune in every outer training set and test the winners outside it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from truerisk.core.answers import Answers
from truerisk.core.contracts import Method, Target, Terms
from truerisk.core.evaluation import Tested
from truerisk.core.losses import Loss
from truerisk.core.table.data import Data

__all__ = ["Procedure"]


class Procedure(Method):
    """The risk of the whole procedure "choose a setting, then fit".

    Its plan has a part "outer", whose questions test, and a part "inner", whose questions of unit q
    compare the candidates on the training rows of outer question q. With `compare` also a single
    candidate is asked inside, so that it can be compared with others of another family.
    """

    compare: bool
    target: ClassVar[Target] = "Err"

    @property
    @abstractmethod
    def outer_method(self) -> Method:
        """The method that tests."""

    @property
    @abstractmethod
    def inner_method(self) -> Method:
        """The method that compares the candidates on outer training rows."""

    @property
    def respects_time(self) -> bool:  # type: ignore[override]
        return self.outer_method.respects_time and self.inner_method.respects_time

    @property
    def tells_scores(self) -> Method:
        return self.outer_method

    @property
    def tested_by(self) -> str:
        """The splits that test, in a word."""
        return self.outer_method.word

    @property
    @abstractmethod
    def shares_folds(self) -> bool:
        """Whether the outer questions are those that compare the candidates on all rows."""

    def asks_inside(self, n_candidates: int) -> bool:
        """Whether the inner questions are asked where there are so many candidates."""
        return n_candidates > 1 or self.compare

    def testing_pass(self, n_candidates: int) -> int:
        """Which of its passes tests: the first where folds are shared, else the one after tuning.

        The models of a pass have its seeds; who fits the winners again asks in that pass.
        """
        return 0 if self.shares_folds else int(self.asks_inside(n_candidates))

    @property
    def bias(self) -> str:
        return f"{self.outer_method.bias}; the tuning is inside and adds no optimism"

    def check(self, data: Data, loss: Loss) -> None:
        self.outer_method.check(data, loss)
        self.inner_method.check(data, loss)

    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> Sequence[Tested]:
        return self.outer_method.reduce(answers, data, loss, terms)

    def risk(
        self, tested: Answers, shaken: Answers | None, data: Data, loss: Loss, terms: Terms
    ) -> Tested:
        """The risk of what was `tested`; `shaken` are answers of models that lack more rows."""
        return self.outer_method.reduce(tested, data, loss, terms)[0]
