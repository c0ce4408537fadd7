"""Damage to stored results: one place of a JSON document changed, and what reading it then does."""

import contextlib
import json
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from tests.adversary.plain import Plain
from tests.support.results import RESULTS

from truerisk.extend import TrueRiskError

__all__ = [
    "EDITS",
    "KINDS_OF_RESULTS",
    "Damage",
    "damage_wrong",
    "damaged",
    "draw_damage",
    "places",
    "reading_wrong",
    "stored",
]

Path_ = tuple[str | int, ...]
KINDS_OF_RESULTS = tuple(RESULTS)
SECONDS = 10.0  # of the processor, for reading a small document and showing it in every form
DEEP = 985  # levels that Python reads; far beyond any result
RAW = {
    "@1e999@": "1e999",
    "@10**400@": "1" + "0" * 400,
    "@NaN@": "NaN",
    "@deep@": "[" * DEEP + "]" * DEEP,
}
"""Texts that stand in a document where a placeholder is written."""


class Twin(str):
    """A key that differs from its equals, so that a document can hold a key twice."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


NUMBERS: tuple[Any, ...] = (
    *("nan", "inf", "-inf", 0, -1, 1, 2, 0.5, 1.5, -0.25, 1e-9, 5e-324, 3.5e9, 2**53, 2**63),
    *(-(2**62), 1e149, -1e149, 1e300, *RAW),
)


def _if_number(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Change a number, and leave all else as it is."""

    def changed(value: Any) -> Any:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return change(value) if is_number else value

    return changed


def _if_list(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Change a text or an array, and leave all else as it is."""
    return lambda value: change(value) if isinstance(value, str | list) else value


def _if_object(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Change an object that is not empty, and leave all else as it is."""
    return lambda value: change(value) if isinstance(value, dict) and value else value


def _moved(value: dict[str, Any]) -> dict[str, Any]:
    """Give each key the value of the next one."""
    first, *others = value.values()
    return dict(zip(value, [*others, first], strict=True))


DROPPED = object()
TWICE = "has a key twice"
EDITS: dict[str, Callable[[Any], Any]] = {
    **{f"is {value}": (lambda _, value=value: value) for value in NUMBERS},
    "is null": lambda _: None,
    "is true": lambda _: True,
    "is an empty text": lambda _: "",
    "is a text": lambda _: "x",
    "is control characters": lambda _: "\x00\x1b[2J\ufffe\u202e",
    "is a surrogate": lambda _: "\ud800",
    "is a long text": lambda _: "y" * 20_000,
    "is an empty array": lambda _: [],
    "is an empty object": lambda _: {},
    "is an array of nulls": lambda _: [None] * 3,
    "stands in an array": lambda value: [value],
    "is negative": _if_number(lambda value: -value),
    "is a thousandth": _if_number(lambda value: value / 1000),
    "is a thousandfold": _if_number(lambda value: value * 1000),
    "is a text of itself": lambda value: f"{value}",
    "is reversed": _if_list(lambda value: value[::-1]),
    "lacks its last entry": _if_list(lambda value: value[:-1]),
    "has its last entry twice": _if_list(lambda value: value + value[-1:]),
    "has all of its entries alike": _if_list(lambda value: value[:1] * len(value)),
    "lacks its last key": _if_object(lambda value: dict([*value.items()][:-1])),
    TWICE: _if_object(lambda value: value | {Twin(next(iter(value))): next(iter(value.values()))}),
    "has a key more": _if_object(lambda value: value | {"\x1b[2J<b>": next(iter(value.values()))}),
    "has its keys reversed": _if_object(lambda value: dict(reversed(value.items()))),
    "has its values moved by one": _if_object(_moved),
    "is dropped": lambda _: DROPPED,
}
"""What happens to a value; one that does not fit leaves it as it is."""


@cache
def stored(kind: str) -> tuple[type, str]:
    """A result of this kind: its class and its JSON."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = RESULTS[kind]()
    return type(result), result.to_json()


def places(content: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Yield the path of every value; of a long array the first, the middle and the last entry."""
    yield path
    if isinstance(content, dict):
        for key, value in content.items():
            yield from places(value, (*path, key))
    elif isinstance(content, list):
        for i in sorted({0, len(content) // 2, len(content) - 1} if content else ()):
            yield from places(content[i], (*path, i))


def damaged(content: Any, path: Path_, edit: str) -> str:
    """Return the document with an edit at one place, as text."""
    text = json.dumps(_edited(content, path, EDITS[edit]))
    for placeholder, raw in RAW.items():
        text = text.replace(f'"{placeholder}"', raw)
    return text


def _edited(content: Any, path: Path_, edit: Callable[[Any], Any]) -> Any:
    if not path:
        new = edit(content)
        return None if new is DROPPED else new
    first, *rest = path
    if isinstance(content, dict):
        if first not in content:
            return content
        new = _edited(content[first], tuple(rest), edit) if rest else edit(content[first])
        return {
            k: new if k == first else v
            for k, v in content.items()
            if k != first or new is not DROPPED
        }
    if not isinstance(content, list) or not isinstance(first, int) or first >= len(content):
        return content
    new = _edited(content[first], tuple(rest), edit) if rest else edit(content[first])
    return [*content[:first], *([] if new is DROPPED else [new]), *content[first + 1 :]]


@dataclass(frozen=True)
class Damage(Plain):
    """A stored result with one to three places changed."""

    kind: str
    edits: tuple[tuple[Path_, str], ...]
    script = "from tests.adversary.damage import damage_wrong"

    @property
    def question(self) -> str:
        return f"damage_wrong({self.kind!r}, {self.edits!r})"


def draw_damage(rng: np.random.Generator, number: int) -> Damage:
    """Draw a kind of result, and one to three places of it with an edit for each."""
    kind = str(rng.choice(KINDS_OF_RESULTS))
    known = [*places(json.loads(stored(kind)[1]))]
    edits = tuple(
        (known[int(rng.integers(len(known)))], str(rng.choice(list(EDITS))))
        for _ in range(int(rng.choice([1, 2, 3], p=[0.7, 0.2, 0.1])))
    )
    return Damage(number, kind, edits)


def damage_wrong(kind: str, edits: tuple[tuple[Path_, str], ...]) -> str:
    """Return what is wrong with reading a result of this kind after these edits."""
    cls, text = stored(kind)
    content = json.loads(text)
    for path, edit in edits[:-1]:  # `damaged` writes the texts that placeholders stand for
        content = json.loads(json.dumps(_edited(content, path, EDITS[edit])))
    path, edit = edits[-1]
    return reading_wrong(cls, damaged(content, path, edit))


SHOWN: Mapping[str, Callable[[Any, Path], Any]] = {
    "str": lambda result, _: str(result),
    "repr": lambda result, _: repr(result),
    "to_frame": lambda result, _: result.to_frame(),
    "to_json": lambda result, _: type(result).from_json(result.to_json()),
    "to_metrics": lambda result, _: result.to_metrics(),
    "_repr_html_": lambda result, _: result._repr_html_(),
    "to_html": lambda result, folder: result.to_html(folder / "page.html"),
    "save_figures": lambda result, folder: result.save_figures(folder, ["svg"]),
}


def reading_wrong(cls: Any, text: str) -> str:
    """Return what is wrong: a bare exception, a sentence that cannot be read, more than SECONDS."""
    doing = "from_json"
    with TemporaryDirectory() as name, warnings.catch_warnings(), time_limit(SECONDS):
        warnings.simplefilter("ignore")
        try:
            result = cls.from_json(text)
            for form, show in SHOWN.items():
                doing = form
                show(result, Path(name))
            if _has_twins(text):
                return "from_json: a key stands twice, and nothing is said"
        except TrueRiskError as error:
            sentence = str(error)
            read = sentence.isprintable() and len(sentence) < 1000 and " " in sentence
            if doing == "save_figures" and "no figure" in sentence:
                return ""
            if doing == "from_json" and read:
                return ""
            return f"{doing}: {type(error).__name__}: {sentence[:300]!r}"
        except Exception as error:  # noqa: BLE001  what is looked for
            return f"{doing}: {type(error).__name__}: {str(error)[:300]!r}"
    return ""


def _has_twins(text: str) -> bool:
    """Return whether an object of the document holds a key twice."""
    twins: list[str] = []

    def remember(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        twins.extend([] if len(content) == len(pairs) else content)
        return content

    json.loads(text, object_pairs_hook=remember)
    return bool(twins)


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the main thread after so many seconds of the processor.

    In another thread there is no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(*_: Any) -> None:
        raise TimeoutError(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
