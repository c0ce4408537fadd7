"""The specification of a study in TOML: problems × sizes × learners × methods × replicates.

A specification is data. It refers to code only by `import = "package.module:name"`, which is
refused unless the reader allows it. Every mistake is reported with its line.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import field
from pathlib import Path
from typing import Any, NoReturn

from truerisk.core.arguments import mention, path_of, refuse_old_names
from truerisk.core.errors import BadData, TrueRiskError
from truerisk.core.frozen import frozen
from truerisk.core.registry import Registry, check_present, closest
from truerisk.intervals import as_form
from truerisk.losses.loss_words import may_be_name
from truerisk.losses.row_losses import registry as losses
from truerisk.methods.words import method_by
from truerisk.selection import as_rule
from truerisk.study.schema import NUMBERS

LARGEST_SPEC = 1_000_000  # characters
MOST_CELLS = 100_000


def known_problems() -> Registry:
    """Import the registry of data sets and problems."""
    check_present("truerisk.datasets")
    from truerisk.datasets import registry

    return registry


def known_learners() -> Any:
    """Import the registry of learners."""
    check_present("truerisk.models.learners")
    from truerisk.models import learners

    return learners


@frozen
class Entry:
    """A problem, a learner or a method: its name in results, and its specification."""

    name: str
    content: Mapping[str, Any]


@frozen
class Spec:
    """A checked specification. `text` is the original text, TOML or JSON."""

    name: str
    replicates: int
    sizes: tuple[int, ...]
    problems: tuple[Entry, ...]
    learners: tuple[Entry, ...]
    methods: tuple[Entry, ...]
    seed: int = 0
    scoring: str | None = None
    rule: str = "min"
    confidence_level: float = 0.95
    n_test: int = 10_000
    text: str = field(default="", repr=False)
    folder: str = field(default=".", repr=False)

    @property
    def n_tasks(self) -> int:
        """Number of requested results."""
        cells = len(self.problems) * len(self.sizes) * len(self.learners) * len(self.methods)
        return cells * self.replicates

    def mistake(self, sentence: str, *place: str | int) -> NoReturn:
        """Raise an error about what is written at a place."""
        raise _mistake(self.text, sentence, place)


def read_spec(source: Any, *, allow_import: bool = False) -> Spec:
    """Return the specification in a TOML file, or in a mapping with the same names."""
    if isinstance(source, Spec):
        return source
    if isinstance(source, Mapping):
        try:
            text = json.dumps(dict(source), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise BadData(f"the specification is no plain data ({error}).") from None
        return parse_spec(text, allow_import=allow_import)
    path = path_of("spec", source, "spec.toml")
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"{path}: {getattr(error, 'strerror', None) or error}.") from None
    return parse_spec(text, path.stem, str(path.parent), allow_import=allow_import)


def parse_spec(
    text: str, name: str = "study", folder: str = ".", *, allow_import: bool = False
) -> Spec:
    """Return the specification in a text; files that it names are in or below `folder`."""
    return _Reader(text, _parsed(text), folder, allow_import).read(name)


def _parsed(text: str) -> dict[str, Any]:
    if len(text) > LARGEST_SPEC:
        raise BadData(
            f"the specification has {len(text)} characters; at most {LARGEST_SPEC} are read."
        )
    is_mapping = text.lstrip().startswith("{")  # It was stored as JSON.
    try:
        return json.loads(text) if is_mapping else tomllib.loads(text)
    except ValueError as error:
        form = "JSON" if is_mapping else "TOML"
        raise BadData(f"the specification is no {form}: {error}.") from None
    except RecursionError:
        raise BadData("the specification is none of a study: it is nested too deeply.") from None


def _mistake(text: str, sentence: str, place: tuple[str | int, ...]) -> BadData:
    line = None if text.lstrip().startswith("{") else line_of(text, place)
    where = "in the specification" if line is None else f"in line {line} of the specification"
    return BadData(f"{where}: {sentence}")


def options_of(method: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a method's entry, without its word, name and interval."""
    return {name: value for name, value in method.items() if name not in _OF_METHODS}


_KNOWN = {
    "name", "seed", "replicates", "sizes", "problems", "learners", "methods", "scoring", "rule",
    "confidence_level", "n_test",
}  # fmt: skip
_NEEDED = ("replicates", "sizes", "problems", "learners", "methods")
_OF_FILES = {"file", "target", "target_type", "name"}
_OF_LEARNERS = {"word", "name", "set", "grid"}
_OF_METHODS = {"word", "name", "interval"}  # Everything else is an option of the method itself.


@frozen
class _Reader:
    text: str
    content: dict[str, Any]
    folder: str
    allow_import: bool

    def read(self, name: str = "study") -> Spec:
        for key in self.content:
            if key not in _KNOWN:
                self.worded(lambda old: refuse_old_names([old], _KNOWN), key, key)
                self.refuse(f"{key!r} is no entry of a study{closest(key, _KNOWN) or '.'}", key)
        for key in _NEEDED:
            if key not in self.content:
                raise BadData(
                    f"the specification has no {key!r}: a study names {', '.join(_NEEDED)}."
                )
        spec = Spec(
            name=self.text_of("name", name),
            seed=self.integer("seed", 0, 2**63 - 1, default=0),
            replicates=self.integer("replicates", 1, NUMBERS - 1),
            sizes=self.sizes(),
            problems=self.entries("problems", self.problem),
            learners=self.entries("learners", self.learner),
            methods=self.entries("methods", self.method),
            scoring=self.scoring(),
            rule=self.rule(),
            confidence_level=self.level(),
            n_test=self.integer("n_test", 2, 10**8, default=10_000),
            text=self.text,
            folder=self.folder,
        )
        if spec.n_tasks // spec.replicates > MOST_CELLS:
            raise BadData(
                f"the study has {spec.n_tasks // spec.replicates} cells (problems × sizes × "
                f"learners × methods); at most {MOST_CELLS} fit a store."
            )
        return spec

    def refuse(self, sentence: str, *place: str | int) -> NoReturn:
        raise _mistake(self.text, sentence, place)

    # ------------------------------------------------------------ plain entries

    def text_of(self, key: str, default: str) -> str:
        value = self.content.get(key, default)
        if not isinstance(value, str) or not value.strip():
            self.refuse(f"{key} = {value!r} is no text.", key)
        return value

    def integer(self, key: str, low: int, high: int, *, default: int | None = None) -> int:
        value = self.content.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            self.refuse(f"{key} = {value!r} is no whole number from {low} to {high}.", key)
        return value

    def sizes(self) -> tuple[int, ...]:
        for i, size in enumerate(self.list_of("sizes")):
            if not isinstance(size, int) or isinstance(size, bool) or size < 2:
                self.refuse(f"size {size!r} is no number of rows from 2 on.", "sizes", i)
        return self.different("sizes", self.content["sizes"])

    def level(self) -> float:
        value = self.content.get("confidence_level", 0.95)
        if not isinstance(value, float) or not 0 < value < 1:
            self.refuse(
                f"confidence_level = {value!r} lies not between 0 and 1.", "confidence_level"
            )
        return value

    def scoring(self) -> str | None:
        value = self.content.get("scoring")
        if value is not None and not (isinstance(value, str) and may_be_name(value)):
            self.refuse(
                f"there is no scoring {value!r}{closest(str(value), losses) or '.'} Known: "
                f"{', '.join(losses)}, and scikit-learn's scorer names.",
                "scoring",
            )
        return value

    def rule(self) -> str:
        value = self.text_of("rule", "min")
        self.worded(as_rule, value, "rule")
        return value

    def list_of(self, key: str) -> list[Any]:
        value = self.content[key]
        if not isinstance(value, list) or not value:
            self.refuse(f"{key} is to be a list with at least one entry, [...].", key)
        return value

    def different(self, key: str, values: list[Any]) -> tuple[Any, ...]:
        seen = set()
        for i, value in enumerate(values):
            if value in seen:
                self.refuse(f"{value!r} stands twice in {key}.", key, i)
            seen.add(value)
        return tuple(values)

    def worded(self, check: Callable[[Any], Any], name: str, *place: str | int) -> None:
        """Raise a registry's refusal with its line."""
        try:
            check(name)
        except TrueRiskError as error:
            self.refuse(error.sentence.marked, *place)

    # ------------------------------------------------------------ problems, learners, methods

    def entries(self, key: str, check: Callable[..., str]) -> tuple[Entry, ...]:
        entries: list[Entry] = []
        for i, entry in enumerate(self.list_of(key)):
            written = {"word": entry} if isinstance(entry, str) else entry
            if not isinstance(written, dict):
                self.refuse(f"{entry!r} is neither a word nor a table {{word = ..., ...}}.", key, i)
            name = check(written, key, i)
            name = written.get("name", name)
            if not isinstance(name, str) or not name.strip():
                self.refuse(f"name = {name!r} is no text.", key, i, "name")
            if name in [entry.name for entry in entries]:
                self.refuse(
                    f"two {key} are called {name!r}: give one of them a name of its own.", key, i
                )
            entries.append(Entry(name, {k: v for k, v in written.items() if k != "name"}))
        return tuple(entries)

    def problem(self, written: dict[str, Any], key: str, i: int) -> str:
        """Check a word with options, a file with its target, or an import; return its name."""
        if "import" in written:
            return self.imported(written, key, i)
        if "file" in written:
            self.check_keys(written, _OF_FILES, key, i)
            if not isinstance(written.get("target"), str):
                self.refuse('a file needs its target, target = "column".', key, i)
            return Path(str(written["file"])).stem
        return self.name_of(written, known_problems(), key, i)

    def learner(self, written: dict[str, Any], key: str, i: int) -> str:
        """Check a word, with a setting (`set`) or a grid (`grid`), or an import.

        Return its name.
        """
        if "import" in written:
            return self.imported(written, key, i)
        self.check_keys(written, _OF_LEARNERS, key, i)
        if "set" in written and "grid" in written:
            self.refuse("a learner has set (one setting) or grid (several), not both.", key, i)
        for part in ("set", "grid"):
            if not isinstance(written.get(part, {}), dict):
                self.refuse(
                    f"{part} is to be a table, {part} = {{n_neighbors = ...}}.", key, i, part
                )
        for name, values in written.get("grid", {}).items():
            if not isinstance(values, list) or not values:
                self.refuse(f"grid.{name} is to be a list of values.", key, i, "grid", name)
        return self.name_of(written, known_learners().registry, key, i)

    def method(self, written: dict[str, Any], key: str, i: int) -> str:
        """Check a word with options, or an import, either with an interval; return its name."""
        if "interval" in written:
            self.worded(as_form, written["interval"], key, i, "interval")
        if "import" in written:
            return self.imported(written, key, i, {"interval"})
        name = written.get("word")
        if not isinstance(name, str):
            self.refuse(f"{written!r} is no word of a method, nor has it one.", key, i)
        self.worded(lambda name: method_by(name, options_of(written)), name, key, i)
        return f"{name}:{written['interval']}" if "interval" in written else name

    def name_of(self, written: dict[str, Any], registry: Any, key: str, i: int) -> str:
        name = written.get("word")
        if not isinstance(name, str):
            self.refuse(f"an entry of {key} has a word, a file or an import.", key, i)
        if name not in registry:
            self.refuse(
                f"there is no {registry.kind} {name!r}{closest(name, registry) or '.'} "
                f"Known: {', '.join(registry)}.",
                key, i,
            )  # fmt: skip
        return name

    def imported(
        self, written: dict[str, Any], key: str, i: int, more: Set[str] = frozenset()
    ) -> str:
        self.check_keys(written, {"import", "name"} | more, key, i)
        where = written["import"]
        if not isinstance(where, str) or where.count(":") != 1:
            self.refuse(f'import = {where!r}: write "package.module:name".', key, i, "import")
        if not self.allow_import:
            self.refuse(
                f"import = {where!r} runs code of that module: give "
                f"{mention('allow_import', True)} if you trust it.",
                key, i, "import",
            )  # fmt: skip
        return where.rpartition(":")[2]

    def check_keys(self, written: dict[str, Any], names: Set[str], key: str, i: int) -> None:
        for name in written:
            if name not in names:
                self.refuse(
                    f"{name!r} is no entry here{closest(name, names) or '.'} Known: "
                    f"{', '.join(sorted(names))}.",
                    key, i, name,
                )  # fmt: skip


# ---------------------------------------------------------------- the line of a mistake

Place = Sequence[str | int]


def line_of(text: str, place: Place) -> int | None:
    r"""Return the first line (from 1) with the value at `place`, such as ("learners", 1, "word").

    It is the first line after which the text up to there parses and has the value. Inside a
    statement of several lines, it is the line that contains the last word of the place.

    >>> line_of('seed = 1\nmethods = [\n  "loo",\n  "holdout",\n]', ("methods", 1))
    4
    """
    lines = text.splitlines()
    whole = 0  # number of lines that parse by themselves, before the statement with the place
    for end in range(1, len(lines) + 1):
        try:
            value: Any = tomllib.loads("\n".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue
        try:
            for step in place:
                value = value[step]
        except (KeyError, IndexError, TypeError):
            whole = end
        else:
            return _inside(lines, whole, end, value, place)
    return None


def _inside(lines: list[str], start: int, end: int, value: Any, place: Place) -> int:
    """Return the line of a statement with the value, or else the name, or else its first line."""
    shown = [str(value).lower() if isinstance(value, bool) else str(value)]
    if isinstance(value, dict):
        shown = [str(v) for v in value.values()] + list(value)
    for name in [*shown, *(step for step in reversed(place) if isinstance(step, str))]:
        for number in range(start, end):
            code = lines[number].partition("#")[0]
            if name and name in code:
                return number + 1
    return start + 1
