"""A check is a named fact that can be run; an error names all the checks that failed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from truerisk.core.errors import TrueRiskError


@dataclass(frozen=True)
class Check:
    """One fact about a method or an engine; calling it raises an error where the fact is not so.

    `pytest.mark.parametrize` takes checks as they are and shows their names.
    """

    name: str
    fact: str
    run: Callable[[], None] = field(repr=False)

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self) -> None:
        self.run()

    def __str__(self) -> str:
        return self.name


class NotConforming(TrueRiskError, AssertionError):
    """Some checks failed; `failures` holds the error of each by its name."""

    def __init__(self, subject: str, total: int, failures: dict[Check, Exception]) -> None:
        lines = [
            f"- {check.name} ({check.fact}) {type(error).__name__}: {error}"
            for check, error in failures.items()
        ]
        head = f"{subject} does not conform: {len(failures)} of {total} checks failed."
        super().__init__("\n".join([head, *lines]))
        self.failures = {check.name: error for check, error in failures.items()}


def check_of(function: Callable[..., None], *arguments: Any, about: str = "") -> Check:
    """The check that a function makes; its docstring is the fact."""
    fact = " ".join((inspect.getdoc(function) or "").split())
    name = function.__name__.removeprefix("check_") + (f"[{about}]" if about else "")
    return Check(name, fact, partial(function, *arguments))


def raise_failures(subject: str, checks: Iterable[Check]) -> None:
    """Run all checks; one error names those that failed."""
    failures: dict[Check, Exception] = {}
    total = 0
    for check in checks:
        total += 1
        try:
            check()
        except Exception as error:  # noqa: BLE001 - what is checked may raise anything
            failures[check] = error
    if failures:
        raise NotConforming(subject, total, failures)


def require(fact: bool, otherwise: str) -> None:
    """Fail with a sentence unless the fact holds (also under `python -O`)."""
    if not fact:
        raise AssertionError(otherwise)
