"""How results are written: numbers, text tables, tables of a notebook, plain values for JSON."""

from __future__ import annotations

import html
import math
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from truerisk.core.arguments import is_number
from truerisk.core.errors import MissingExtra, TrueRiskError, visible

MODELS_SAW = {
    "time": "the rows around them in time",
    "space": "the rows beside them",
    "groups": "other rows of their group",
}
"""What models saw of the rows that they were tested on, by what the splits mix."""

_QUOTED_FOLDERS = re.compile(r"""(['"])(?:~[^/\\'"]*|[A-Za-z]:)?[/\\][^'"\n]*[/\\](?=[^'"/\\])""")
_FOLDERS = re.compile(
    r"""(?<![\w.~/\\])(?:file://|~[\w.-]*|[A-Za-z]:)?[/\\](?:[^\s/\\'"<>|:;,()\[\]]+[/\\]+)+(?=[^\s/\\])"""
)
_UNTRACKED = re.compile(r"[^\w. /-]|^[./]+|(?<=/)[./]+|/+$")  # MLflow refuses paths such as ../a
TARGETS = {
    "Err": "the mean risk of the procedure over training sets (Err)",
    "Err_XY": "the risk of this fitted rule (Err_XY)",
    "CER": "the risk at these very rows with fresh labels (CER)",
    "training": "the training risk only",
}


def plain(value: Any) -> Any:
    """The value as JSON knows it; what JSON cannot say (an estimator in a grid) by its text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else str(float(value))
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, np.ndarray):
        dates = value.dtype.kind == "M"
        return [plain(v) for v in (dates_text(value) if dates else value).tolist()]
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        return [plain(v) for v in value]
    if is_dataclass(value) and not isinstance(value, type):
        schema, derived = getattr(value, "schema", ""), getattr(value, "derived", ())
        derived = derived if isinstance(derived, Mapping) else {name: name for name in derived}
        written = [each for each in fields(value) if _is_written(value, each)]
        names = {each.metadata.get("key", each.name): each.name for each in written}
        names |= {**derived, **getattr(value, "stored", {})}
        head = {"schema": schema} if schema else {}
        return {**head, **{key: plain(getattr(value, name)) for key, name in names.items()}}
    return clean(without_folders(str(value)))


def _is_written(value: Any, field: Any) -> bool:
    """Return False for fields that are never written, and for empty ones that need not be."""
    if field.metadata.get("written", True) != "unless empty":
        return bool(field.metadata.get("written", True))
    return bool(getattr(value, field.name))


def dates_text(dates: np.ndarray) -> np.ndarray:
    """Dates as texts, each no longer than it takes."""
    return np.datetime_as_string(dates, unit="auto")


def without_folders(text: str) -> str:
    """The text with files by their names alone: what is passed on says nothing of who ran it where.

    >>> without_folders("[Errno 2] No such file: '/a folder/trial/rows.csv' (see /c/d/b.log)")
    "[Errno 2] No such file: 'rows.csv' (see b.log)"
    >>> without_folders("1/2 of https://example.org/a/b and /x stay")
    '1/2 of https://example.org/a/b and /x stay'
    """
    return _FOLDERS.sub("", _QUOTED_FOLDERS.sub(r"\1", text))


def number(value: float | None, digits: int = 4) -> str:
    """A rounded number, or a dash for what is not there; what rounds to nothing has no sign.

    >>> number(-0.25), number(-2e-16), number(None)
    ('-0.2500', '0.0000', '–')
    """
    if value is None or not np.isfinite(value):
        return "–"
    return f"{value:z.{digits}f}" if abs(value) < 1000 else f"{value:.{digits}g}"


def risk(value: float | None, beside: float = 0.0) -> str:
    """A risk, with an exponent where it and the number beside it would read 0.0000.

    >>> risk(0.12345), risk(0.0), risk(7.8344e-13), risk(2e-6, beside=0.1), risk(None)
    ('0.1235', '0.0000', '7.834e-13', '0.0000', '–')
    """
    tiny = value is not None and 0 < max(abs(value), abs(beside)) < 0.00005
    return f"{value:.4g}" if tiny else number(value)


def percent(level: float) -> str:
    """A confidence level in percent, as it is printed.

    >>> percent(0.95), percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * level:.15g} %"


def rows_counted(
    n_rows: int | None, class_counts: Mapping[str, int], n_groups: int | None = None
) -> str:
    """How many rows, in how many groups, and of which class.

    >>> rows_counted(178, {"ill": 48, "healthy": 130})
    "178 rows (48 'ill', 130 'healthy')"
    """
    groups = "" if n_groups is None else f" in {n_groups} groups"
    classes = ", ".join(f"{n} '{clean(name, 40)}'" for name, n in class_counts.items())
    return f"{n_rows} rows{groups}" + (f" ({classes})" if classes else "")


def seconds(value: float | None) -> str:
    """Write seconds as people read them, with a dash where they are not known."""
    if value is None:
        return "–"
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def sureness(std_error: float | None, interval: Any) -> str:
    """', 95 % interval [.1, .2] (wald)', or the standard error alone, or nothing."""
    if interval is not None:
        level = round(100 * interval.confidence_level, 6)
        return f", {level:.15g} % interval {interval} ({interval.method})"
    return "" if std_error is None else f", standard error {risk(std_error)}"


def clean(text: str, limit: int = 200) -> str:
    """Visible text, cut where it is long."""
    shown = visible(text[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def params_text(params: Mapping[str, Any]) -> str:
    """'n_neighbors=5, weights=uniform': step names left out where that stays clear."""
    short = [name.rpartition("__")[2] for name in params]
    names = short if len(set(short)) == len(short) else list(params)
    parts = [f"{name}={_value(v)}" for name, v in zip(names, params.values(), strict=True)]
    return ", ".join(parts) or "as given"


def _value(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    shown = value if isinstance(value, str) else without_folders(str(value))
    return clean(" ".join(shown.split()), 60)


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns under their heads; numbers to the right, words to the left."""
    table = [list(head), *[list(row) for row in rows]]
    widths = [max(_width(row[j]) for row in table) for j in range(len(head))]
    right = [all(_is_number(row[j]) for row in rows) for j in range(len(head))]
    lines = [
        "  ".join(_pad(cell, w, r) for cell, w, r in zip(row, widths, right, strict=True)).rstrip()
        for row in table
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _pad(cell: str, width: int, right: bool) -> str:
    space = " " * (width - _width(cell))
    return space + cell if right else cell + space


def _is_number(cell: str) -> bool:
    return not cell or cell == "–" or cell[0].isdigit() or (cell[0] in "+-" and cell[1:2].isdigit())


@dataclass(frozen=True)
class Block:
    """A table that shows a result, or a part of it; control characters in names are visible."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "caption", visible(self.caption))
        object.__setattr__(self, "head", [visible(cell) for cell in self.head])
        object.__setattr__(self, "rows", [[visible(cell) for cell in row] for row in self.rows])

    @property
    def text(self) -> str:
        """The columns under their heads, without the caption."""
        return text_table(self.head, self.rows)

    @property
    def html(self) -> str:
        """A small table that any notebook shows; every cell is escaped."""
        top = "".join(f"<th scope='col'>{html.escape(cell)}</th>" for cell in self.head)
        lines = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in self.rows)
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        return (
            f"<table><caption>{html.escape(self.caption)}</caption>"
            f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
        )


def of_class(score: str, positive: Any) -> str:
    """The name of a score, with the class that it speaks of.

    >>> of_class("f1", "bad"), of_class("mcc", None)
    ("f1 of 'bad'", 'mcc')
    """
    return score if positive is None else f"{score} of {clean(repr(positive), 40)}"


def further(estimate: Any) -> list[Any]:
    """The scores of a RiskEstimate without the one that it is itself: `scoring=[...]` names it."""
    own = estimate.named_scoring, estimate.value
    return [each for each in estimate.scores.values() if (each.named_scoring, each.value) != own]


def estimate_rows(estimate: Any) -> list[list[str]]:
    """What a RiskEstimate shows of itself, one pair per line."""
    name, value = clean(estimate.named_scoring, 60), risk(estimate.value)
    rows = [
        [name, f"{value} (larger is better)"] if estimate.greater_is_better else ["risk", value],
        ["standard error", risk(estimate.std_error)],
        ["interval", _interval(estimate.interval)],
        *(row for score in further(estimate) for row in scale_rows(score)),
        ["scoring", f"{estimate.named_scoring}{', pooled' if estimate.pooled else ''}"],
        ["method", estimate.method],
        ["estimates", TARGETS.get(estimate.target, estimate.target)],
        ["bias", estimate.bias],
        ["setting", params_text(estimate.params)],
        ["fits", str(estimate.n_fits)],
        ["seconds", seconds(estimate.seconds)],
        ["engine", estimate.engine],
        ["seed", str(estimate.seed)],
    ]
    for name, value in (estimate.table or {}).items():
        rows.append([name, str(value) if isinstance(value, int) else risk(value)])
    found = {finding.note: finding.severity for finding in estimate.findings}
    return rows + [[found.get(note, "note"), note] for note in estimate.notes]


def finding_lines(findings: Iterable[Any]) -> list[str]:
    """Findings as the lines that are printed below a result."""
    wide = textwrap.TextWrapper(100, break_long_words=False, break_on_hyphens=False)
    return [wide.fill(str(each)) for each in findings]


def scale_rows(estimate: Any) -> list[list[str]]:
    """A score, or a further loss, with its interval."""
    name, better = clean(estimate.named_scoring, 60), estimate.scale.better
    return [
        [name, f"{risk(estimate.value)} ({better} is better)"],
        [f"{name}, interval", _interval(estimate.interval)],
    ]


def _interval(interval: Any) -> str:
    return f"{interval} ({interval.method})" if interval else "none"


def setting_text(params: Mapping[str, Any]) -> str:
    """A setting in words, the same before it is written and after it is read."""
    return clean(params_text(plain(params)), 120)


NOTHING_CHOSEN = "one setting: nothing was selected"


def yes_or_no(answer: bool | None) -> str:
    """The answer in a table, where it may be unknown."""
    return "–" if answer is None else "yes" if answer else "no"


def listed(words: Iterable[str], word: str = "and") -> str:
    """Words of a sentence, with a `word` before the last.

    >>> listed(["knn"]), listed(["knn", "lda", "tree"], "or")
    ('knn', 'knn, lda or tree')
    """
    *first, last = words
    return f"{', '.join(first)} {word} {last}" if first else last


def first_few(words: Sequence[str], most: int) -> str:
    """The first words, and how many more there are.

    >>> first_few(["knn", "lda", "tree"], 2)
    'knn, lda and 1 more'
    """
    shown = ", ".join(words[:most])
    return shown if len(words) <= most else f"{shown} and {len(words) - most} more"


def may_be_best(level: str) -> str:
    """What the confidence set of the best says of a learner."""
    return f"best?: whether these rows leave open that it is the best ({level}, one-sided)"


WHOLE_SEARCH = "whole search"  # the choice among all learners, in a column of learners
SELECTED_SCORE = "selected, in the rows of further scores: the score of the chosen setting"
SEES_ITS_ROWS = ("bootstrap", ".632", "optimism", "swapping")


def honest_risk(noun: str, word: str, *, tuned: bool = True) -> str:
    """What the honest risk, or score, of an assessment is, by the method that tested it.

    Where no learner was tuned, it is that of fitting alone.

    >>> honest_risk("risk", "10-fold")
    'risk on rows used neither for tuning nor for fitting'
    >>> honest_risk("score", ".632+ (B=50)")
    'score in part on rows that were used for tuning or fitting'
    >>> honest_risk("risk", "10-fold", tuned=False)
    'risk on rows not used for fitting'
    """
    if word.startswith(SEES_ITS_ROWS):
        return f"{noun} in part on rows that were used for {'tuning or ' if tuned else ''}fitting"
    return f"{noun} on rows {'used neither for tuning nor' if tuned else 'not used'} for fitting"


def tested_by(word: str) -> str:
    """The splits that test, to a reader who has not met the word.

    >>> tested_by("pairs"), tested_by("10-fold")
    ('leaving out pairs of these folds', '10-fold')
    """
    return "leaving out pairs of these folds" if word == "pairs" else clean(word, 40)


def unsigned(value: float, beside: float | None) -> str:
    """As many decimals as the risk it stands beside; a zero is never −0.

    >>> unsigned(-0.00001, 0.2), unsigned(7.6448, 3012.0)
    ('0.0000', '7.6')
    """
    decimals = 4 if beside is None or abs(beside) < 100 else 1
    return number(round(value, decimals) + 0.0, decimals)


def signed(value: float | None, beside: float | None) -> str:
    """The same with its sign; a dash for what is not there.

    >>> signed(-0.00001, 0.2), signed(-7.6448, 3012.0), signed(None, 0.2)
    ('+0.0000', '-7.6', '–')
    """
    if value is None:
        return "–"
    text = unsigned(value, beside)
    return text if text.startswith("-") else f"+{text}"


@contextmanager
def named(name: str) -> Iterator[None]:
    """Put the name, of a learner or a file, before what an error inside says; its kind is kept."""
    try:
        yield
    except TrueRiskError as error:
        again = type(error)(f"{clean(name, 40)}: {error}")
        for note in getattr(error, "__notes__", ()):
            again.add_note(note)
        raise again from error


def five_numbers(values: Any) -> tuple[float, float, float, float, float]:
    """Tukey's box: whiskers to the last value within 1.5 quartile distances, quartiles, median.

    >>> five_numbers([1, 2, 3, 4, 5, 20])
    (1.0, 2.25, 3.5, 4.75, 5.0)
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    first, middle, third = np.quantile(ordered, [0.25, 0.5, 0.75])
    reach = 1.5 * (third - first)
    inside = ordered[(ordered >= first - reach) & (ordered <= third + reach)]
    return float(inside[0]), float(first), float(middle), float(third), float(inside[-1])


def leaves(content: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """The numbers and words of plain values, with their paths."""
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{path}{name}.")
        elif not isinstance(value, list):
            yield f"{path}{name}", value


def metrics_of(content: Mapping[str, Any]) -> dict[str, float]:
    """The finite numbers of plain values by their paths, in names that trackers take.

    >>> metrics_of({"auc": 0.5, "../b": {"n": 2, "a": float("nan"), "t": "x", "b%": 1, "b#": 2}})
    {'auc': 0.5, '_b.n': 2.0, '_b.b_': 1.0, '_b.b__': 2.0}
    """
    metrics: dict[str, float] = {}
    for path, value in leaves(content):
        if is_number(value) and math.isfinite(float(value)):  # a label may be a larger integer
            name = _UNTRACKED.sub("_", path)
            while name in metrics:  # names that differ in other letters alone stay apart
                name += "_"
            metrics[name] = float(value)
    return metrics


def frame_of_rows(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A frame of one line for each; the first says which columns there are, in their order."""
    names = list(rows[0]) if rows else []
    return frame_of({name: [row.get(name) for row in rows] for name in names})


def _utf8(value: Any) -> Any:
    """Write lone surrogates of a text as escapes, as Arrow holds none; return other values."""
    return value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value


def _utf8_cells(cells: Any) -> Any:
    """Return the cells of a column without lone surrogates; numbers are returned as they are."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind not in "OU":
        return cells
    shown = [_utf8(cell) for cell in cells]
    texts = (n for n, cell in enumerate(cells) if isinstance(cell, str))
    return cells if all(shown[n] == cells[n] for n in texts) else shown


def frame_of(columns: Mapping[str, Any]) -> Any:
    """A pandas frame, or a polars one where only polars is installed."""
    columns = {_utf8(name): _utf8_cells(cells) for name, cells in columns.items()}
    try:
        import pandas as pd

        return pd.DataFrame(columns)
    except ImportError:
        pass
    try:
        import polars as pl

        return pl.DataFrame(columns, strict=False)
    except ImportError:
        raise MissingExtra(
            "a frame needs pandas or polars: pip install 'truerisk[io]'; "
            "without them use to_dict()."
        ) from None
