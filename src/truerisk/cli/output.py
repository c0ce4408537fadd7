"""Output of the commands: results on stdout, progress, notes and warnings on stderr."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.core.errors import FindingWarning, MissingExtra, escape_invisible
from truerisk.core.mentions import OMITTED_OPTION, Mention, Sentence
from truerisk.core.progress import progress_display, progress_switch

if TYPE_CHECKING:
    from truerisk.results.finding import Finding


def print_stderr(text: str) -> None:
    """Print text on stderr, where notes, warnings and errors go."""
    show(text, err=True)


def show(text: str, *, err: bool = False) -> None:
    """Print text on stdout, or on stderr if `err` is True, with control characters escaped.

    All output of the commands is printed by this function. Control characters can occur in names
    or labels of a file.
    """
    click.echo("\n".join(map(escape_invisible, text.split("\n"))), err=err)


def reword_for_command_line(sentence: str, option_by_argument: Mapping[str, str]) -> str:
    """Replace the Python arguments that a sentence mentions by the options of the command.

    >>> from truerisk.core.arguments import mention
    >>> sentence = Sentence(f"a='b' is no group; name it by {mention('groups', 'my site')}.")
    >>> reword_for_command_line(sentence, {"a": "--a", "groups": "--groups"})
    "a='b' is no group; name it by --groups 'my site'."
    """
    sentence_parts = sentence.parts if isinstance(sentence, Sentence) else (sentence,)
    return "".join(
        _sentence_part_as_text(sentence_part, option_by_argument)
        for sentence_part in sentence_parts
    )


def _sentence_part_as_text(
    sentence_part: str | Mention, option_by_argument: Mapping[str, str]
) -> str:
    """Return the text of a part of a sentence, with a mentioned argument as an option.

    An argument without an option on the command line is written as in Python.
    """
    if not isinstance(sentence_part, Mention) or sentence_part.argument not in option_by_argument:
        return str(sentence_part)
    option = option_by_argument[sentence_part.argument]
    return (
        f"no {option}"
        if sentence_part.option_value == OMITTED_OPTION
        else option + sentence_part.option_value
    )


def split_at_commas(
    option: str, text: str | None, item_noun: str, example: str
) -> list[str] | None:
    """Split the comma-separated value of an option into words; raise if there are only commas.

    >>> split_at_commas("--scoring", "auc, log", "score", "auc")
    ['auc', 'log']
    """
    if text is None:
        return None
    option_values = [name.strip() for name in text.split(",") if name.strip()]
    if not option_values:
        raise click.UsageError(f"{option} names no {item_noun}; write {option} {example}.")
    return option_values


def write_page(result: Any, report: str | None, figures: Path | None) -> None:
    """Write the HTML page of a result and its figures, each if the user gave a path for it."""
    if report is not None:
        result.to_html(report)
        print_stderr(f"wrote {report}")
    if figures is not None:
        write_figures(result.save_figures, figures)


def write_figures(save_figures: Callable[..., tuple[Path, ...]], folder: Path) -> None:
    """Write figures into a folder; only as SVG if matplotlib is not installed."""
    try:
        figure_files = save_figures(folder)
    except MissingExtra as error:
        print_stderr(f"note: {error}")
        figure_files = save_figures(folder, ("svg",))
    print_stderr(f"wrote {len(figure_files)} files to {folder}")


def print_column_numbers(columns: tuple[str, ...], findings: Iterable[Finding]) -> None:
    """Print the numbers and names of a file's columns if a finding refers to a column by number."""
    if not columns or not any(re.search(r"\bcolumn \d", finding.sentence) for finding in findings):
        return
    from truerisk.core.formats import escape_and_truncate

    numbered_names = ", ".join(
        f"{j} {escape_and_truncate(name, 40)}" for j, name in enumerate(columns[:100])
    )
    print_stderr(f"note: columns: {numbered_names}{', …' if len(columns) > 100 else ''}")


@contextmanager
def show_progress() -> Iterator[None]:
    """Show the progress of the computations inside the `with` block."""
    with progress_display(progress_switch() is not False):
        yield


class _WarningCounts:
    """Collected warnings by their text, with the number of fits that raised each of them."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.times: Counter[str] = Counter()
        self.fits: Counter[str] = Counter()

    def __call__(self, message: Warning | str, *_: object, **__: object) -> None:
        from truerisk.engines.running.fit_warnings import mask_numbers, split_count

        warning_text, n_times, n_fits = split_count(" ".join(str(message).split()))
        # Different fits repeat a warning with other numbers in its text.
        warning_key = mask_numbers(warning_text) if n_fits else warning_text
        self.texts.setdefault(warning_key, warning_text)
        self.times[warning_key] += n_times
        self.fits[warning_key] += n_fits

    def say(self) -> None:
        from truerisk.engines.running.fit_warnings import append_count

        for warning_key, warning_text in self.texts.items():
            print_stderr(
                "warning: "
                f"{append_count(warning_text, self.times[warning_key], self.fits[warning_key])}"
            )


@contextmanager
def print_warnings_at_end(*, findings: bool = True) -> Iterator[None]:
    """Collect the warnings raised in the `with` block and print each one once, with its count.

    They are printed on stderr at the end, without file names and source lines. Deprecation warnings
    concern developers and are omitted. `findings=False` omits the warnings about findings, which
    the result itself prints on stdout.
    """
    warning_counts = _WarningCounts()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        if not findings:
            warnings.simplefilter("ignore", FindingWarning)
        warnings.showwarning = warning_counts
        try:
            yield
        finally:
            warning_counts.say()
