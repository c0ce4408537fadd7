"""Engines that are broken on purpose: what the adversary must find."""

import warnings
from dataclasses import replace
from typing import ClassVar

from truerisk.contracts import Engine, RunOptions
from truerisk.engines.generic import Generic
from truerisk.extend import Answers, Data, Family, Plan, Request

__all__ = ["Losing", "OffByAMillionth", "Raising", "Sleeping", "Truthful", "Warning"]


class Truthful(Engine):
    """The generic engine under another word; those below spoil its answers."""

    name: ClassVar[str] = "double"
    serves: ClassVar[frozenset[str]] = frozenset({"flips"})

    def refuse(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        return None

    def run(
        self, family: Family, data: Data, plan: Plan, request: Request, run: RunOptions
    ) -> Answers:
        return self.spoilt(Generic().run(family, data, plan, request, run))

    def spoilt(self, answers: Answers) -> Answers:
        """The answers as they are."""
        return answers


class OffByAMillionth(Truthful):
    """Wrong by 1e-6 in the last row that is asked about."""

    def spoilt(self, answers: Answers) -> Answers:
        values = answers.values.copy()
        values[:, -1] += 1e-6
        return replace(answers, values=values)


class Raising(Truthful):
    """Leaks an exception where more than three rows are asked about."""

    def spoilt(self, answers: Answers) -> Answers:
        if answers.values.shape[1] > 3:
            raise KeyError("a bare one")
        return answers


class Warning(Truthful):  # noqa: A001
    """Warns where nothing is to be warned of."""

    def spoilt(self, answers: Answers) -> Answers:
        warnings.warn("an overflow of its own", RuntimeWarning, stacklevel=1)
        return answers


class Losing(Truthful):
    """Forgets that the first question was answered."""

    def spoilt(self, answers: Answers) -> Answers:
        answered = answers.answered.copy()
        answered[:, 0] = False
        return replace(answers, answered=answered)


class Sleeping(Truthful):
    """Is late."""

    def spoilt(self, answers: Answers) -> Answers:
        import time

        time.sleep(3600)
        return answers
