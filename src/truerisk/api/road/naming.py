"""An error of one learner among several says which."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from truerisk.core.errors import TrueRiskError
from truerisk.core.present import clean

__all__ = ["named"]


@contextmanager
def named(learner: str) -> Iterator[None]:
    """Put the learner's name before what truerisk says of an error inside; the kind is kept."""
    try:
        yield
    except TrueRiskError as error:
        again = type(error)(f"{clean(learner, 40)}: {error}")
        for note in getattr(error, "__notes__", ()):
            again.add_note(note)
        raise again from error
