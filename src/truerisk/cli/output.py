"""Progress and notes on stderr, results on stdout."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.core.errors import FindingWarning, MissingExtra, visible
from truerisk.core.mentions import ABSENT, Mention, Sentence
from truerisk.core.progress import shown, wanted

if TYPE_CHECKING:
    from truerisk.results.finding import Finding


def say(text: str) -> None:
    """Print lines on stderr."""
    show(text, err=True)


def show(text: str, *, err: bool = False) -> None:
    """Print lines on stdout; all output of the commands goes through here.

    Control characters in quoted names or labels of a file are escaped.
    """
    click.echo("\n".join(map(visible, text.split("\n"))), err=err)


def in_options(sentence: str, options: Mapping[str, str]) -> str:
    """Write the options of a command where a sentence mentions arguments of Python.

    >>> from truerisk.core.arguments import mention
    >>> said = Sentence(f"a='b' is no group; name it by {mention('groups', 'my site')}.")
    >>> in_options(said, {"a": "--a", "groups": "--groups"})
    "a='b' is no group; name it by --groups 'my site'."
    """
    parts = sentence.parts if isinstance(sentence, Sentence) else (sentence,)
    return "".join(_written(part, options) for part in parts)


def _written(part: str | Mention, options: Mapping[str, str]) -> str:
    """Write a part of a sentence; an argument without an option stays as Python writes it."""
    if not isinstance(part, Mention) or part.argument not in options:
        return str(part)
    option = options[part.argument]
    return f"no {option}" if part.typed == ABSENT else option + part.typed


def listed(option: str, words: str | None, what: str, example: str) -> list[str] | None:
    """Return the comma-separated words of an option; raise if there are only commas.

    >>> listed("--scoring", "auc, log", "score", "auc"), listed("--scoring", None, "score", "auc")
    (['auc', 'log'], None)
    """
    if words is None:
        return None
    parts = [name.strip() for name in words.split(",") if name.strip()]
    if not parts:
        raise click.UsageError(f"{option} names no {what}; write {option} {example}.")
    return parts


def write_page(result: Any, report: str | None, figures: Path | None) -> None:
    """Write the page of a result and its figures, if they were requested."""
    if report is not None:
        result.to_html(report)
        say(f"wrote {report}")
    if figures is not None:
        try:
            files = result.save_figures(figures)
        except MissingExtra as lack:
            say(f"note: {lack}")
            files = result.save_figures(figures, ("svg",))
        say(f"wrote {len(files)} files to {figures}")


def say_columns(columns: tuple[str, ...], findings: Iterable[Finding]) -> None:
    """Print the names of a file's columns if a finding refers to them by number."""
    if not columns or not any(re.search(r"\bcolumn \d", each.sentence) for each in findings):
        return
    from truerisk.core.formats import clean

    named = ", ".join(f"{j} {clean(name, 40)}" for j, name in enumerate(columns[:100]))
    say(f"note: columns: {named}{', …' if len(columns) > 100 else ''}")


@contextmanager
def shown_progress() -> Iterator[None]:
    """Show the progress of what runs inside."""
    with shown(wanted() is not False):
        yield


class _Heard:
    """Warnings by their text, with the number of fits that gave each."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.times: Counter[str] = Counter()
        self.fits: Counter[str] = Counter()

    def __call__(self, message: Warning | str, *_: object, **__: object) -> None:
        from truerisk.engines.running.fit_warnings import alike, split_counted

        text, times, fits = split_counted(" ".join(str(message).split()))
        key = alike(text) if fits else text  # Warnings of fits recur with other numbers.
        self.texts.setdefault(key, text)
        self.times[key] += times
        self.fits[key] += fits

    def say(self) -> None:
        from truerisk.engines.running.fit_warnings import counted

        for key, text in self.texts.items():
            say(f"warning: {counted(text, self.times[key], self.fits[key])}")


@contextmanager
def worded_warnings(*, findings: bool = True) -> Iterator[None]:
    """Print warnings as sentences on stderr at the end, each once with its count.

    They are printed without file names and source lines. Deprecations concern developers and are
    omitted. `findings=False` omits those that the result itself prints on stdout.
    """
    heard = _Heard()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", kind)
        if not findings:
            warnings.simplefilter("ignore", FindingWarning)
        warnings.showwarning = heard
        try:
            yield
        finally:
            heard.say()
