"""Specification of a study in TOML: problems × sizes × learners × methods × replicates.

A specification is data. It refers to code only by `import = "package.module:name"`, which is
refused unless the caller allows imports. Every mistake is reported with its line.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import field
from pathlib import Path
from typing import Any, NoReturn

from truerisk.core.arguments import file_path, mention, refuse_old_names
from truerisk.core.errors import BadData, TrueRiskError
from truerisk.core.frozen import frozen
from truerisk.core.registry import Registry, check_present, suggestion_for
from truerisk.intervals import as_form
from truerisk.losses.loss_words import may_be_loss_name
from truerisk.losses.row_losses import registry as losses
from truerisk.methods.words import method_from_name
from truerisk.selection import as_rule
from truerisk.study.schema import MAX_REPLICATES

MAX_SPEC_LENGTH = 1_000_000  # Longer specifications, in characters, are refused.
MAX_CELLS = 100_000


def load_problem_registry() -> Registry:
    """Import and return the registry of bundled data sets and data generators."""
    check_present("truerisk.datasets")
    from truerisk.datasets import registry

    return registry


def load_learners_module() -> Any:
    """Import and return the module with the registry of learners."""
    check_present("truerisk.models.learners")
    from truerisk.models import learners

    return learners


@frozen
class SpecEntry:
    """A problem, a learner or a method in the specification: its name and its options."""

    name: str
    options: Mapping[str, Any]


@frozen
class Spec:
    """A checked specification of a study; `text` is the original text in TOML or JSON."""

    name: str
    replicates: int
    sizes: tuple[int, ...]
    problems: tuple[SpecEntry, ...]
    learners: tuple[SpecEntry, ...]
    methods: tuple[SpecEntry, ...]
    seed: int = 0
    scoring: str | None = None
    rule: str = "min"
    confidence_level: float = 0.95
    n_test: int = 10_000
    text: str = field(default="", repr=False)
    folder: str = field(default=".", repr=False)

    @property
    def n_tasks(self) -> int:
        """Number of replicates over all cells of the study."""
        n_cells = len(self.problems) * len(self.sizes) * len(self.learners) * len(self.methods)
        return n_cells * self.replicates

    def raise_at_line(self, sentence: str, *key_path: str | int) -> NoReturn:
        """Raise an error that names the line of the text at `key_path`, such as ("methods", 1)."""
        raise _error_with_line(self.text, sentence, key_path)


def read_spec(source: Any, *, allow_import: bool = False) -> Spec:
    """Read and check a specification, given as a TOML file or as a mapping with the same names."""
    if isinstance(source, Spec):
        return source
    if isinstance(source, Mapping):
        try:
            text = json.dumps(dict(source), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise BadData(f"the specification is no plain data ({error}).") from None
        return parse_spec(text, allow_import=allow_import)
    path = file_path("spec", source, "spec.toml")
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(f"{path}: {getattr(error, 'strerror', None) or error}.") from None
    return parse_spec(text, path.stem, str(path.parent), allow_import=allow_import)


def parse_spec(
    text: str, name: str = "study", folder: str = ".", *, allow_import: bool = False
) -> Spec:
    """Read and check a specification given as text; its file names are relative to `folder`."""
    return _SpecReader(text, _parse_text(text), folder, allow_import).read(name)


def _parse_text(text: str) -> dict[str, Any]:
    if len(text) > MAX_SPEC_LENGTH:
        raise BadData(
            f"the specification has {len(text)} characters; at most {MAX_SPEC_LENGTH} are read."
        )
    # Specifications given as a mapping are stored as JSON.
    is_json = text.lstrip().startswith("{")
    try:
        return json.loads(text) if is_json else tomllib.loads(text)
    except ValueError as error:
        format_name = "JSON" if is_json else "TOML"
        raise BadData(f"the specification is no {format_name}: {error}.") from None
    except RecursionError:
        raise BadData("the specification is none of a study: it is nested too deeply.") from None


def _error_with_line(text: str, sentence: str, key_path: tuple[str | int, ...]) -> BadData:
    line_number = None if text.lstrip().startswith("{") else find_line(text, key_path)
    location = (
        "in the specification"
        if line_number is None
        else f"in line {line_number} of the specification"
    )
    return BadData(f"{location}: {sentence}")


def method_options(method_entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a specified method, without the keys word, name and interval."""
    return {name: value for name, value in method_entry.items() if name not in _METHOD_KEYS}


_KNOWN_KEYS = {
    "name", "seed", "replicates", "sizes", "problems", "learners", "methods", "scoring", "rule",
    "confidence_level", "n_test",
}  # fmt: skip
_REQUIRED_KEYS = ("replicates", "sizes", "problems", "learners", "methods")
_FILE_KEYS = {"file", "target", "target_type", "name"}
_LEARNER_KEYS = {"word", "name", "set", "grid"}
_METHOD_KEYS = {"word", "name", "interval"}  # Other keys are options of the method.


@frozen
class _SpecReader:
    text: str
    content: dict[str, Any]
    folder: str
    allow_import: bool

    def read(self, name: str = "study") -> Spec:
        for key in self.content:
            if key not in _KNOWN_KEYS:
                self.check_with_line(
                    lambda old_name: refuse_old_names([old_name], _KNOWN_KEYS), key, key
                )
                self.refuse(
                    f"{key!r} is no entry of a study{suggestion_for(key, _KNOWN_KEYS) or '.'}", key
                )
        for key in _REQUIRED_KEYS:
            if key not in self.content:
                raise BadData(
                    f"the specification has no {key!r}: a study names {', '.join(_REQUIRED_KEYS)}."
                )
        spec = Spec(
            name=self.read_text("name", name),
            seed=self.read_integer("seed", 0, 2**63 - 1, default=0),
            replicates=self.read_integer("replicates", 1, MAX_REPLICATES - 1),
            sizes=self.sizes(),
            problems=self.read_entries("problems", self.check_problem),
            learners=self.read_entries("learners", self.check_learner),
            methods=self.read_entries("methods", self.check_method),
            scoring=self.scoring(),
            rule=self.rule(),
            confidence_level=self.read_confidence_level(),
            n_test=self.read_integer("n_test", 2, 10**8, default=10_000),
            text=self.text,
            folder=self.folder,
        )
        if spec.n_tasks // spec.replicates > MAX_CELLS:
            raise BadData(
                f"the study has {spec.n_tasks // spec.replicates} cells (problems × sizes × "
                f"learners × methods); at most {MAX_CELLS} fit a store."
            )
        return spec

    def refuse(self, sentence: str, *key_path: str | int) -> NoReturn:
        raise _error_with_line(self.text, sentence, key_path)

    # ------------------------------------------------------------ plain entries

    def read_text(self, key: str, default: str) -> str:
        value = self.content.get(key, default)
        if not isinstance(value, str) or not value.strip():
            self.refuse(f"{key} = {value!r} is no text.", key)
        return value

    def read_integer(
        self, key: str, smallest_value: int, largest_value: int, *, default: int | None = None
    ) -> int:
        value = self.content.get(key, default)
        if (
            not isinstance(value, int)
            or isinstance(value, bool)
            or not smallest_value <= value <= largest_value
        ):
            self.refuse(
                f"{key} = {value!r} is no whole number from {smallest_value} to {largest_value}.",
                key,
            )
        return value

    def sizes(self) -> tuple[int, ...]:
        for i, n_training_rows in enumerate(self.read_list("sizes")):
            if (
                not isinstance(n_training_rows, int)
                or isinstance(n_training_rows, bool)
                or n_training_rows < 2
            ):
                self.refuse(f"size {n_training_rows!r} is no number of rows from 2 on.", "sizes", i)
        return self.refuse_duplicates("sizes", self.content["sizes"])

    def read_confidence_level(self) -> float:
        value = self.content.get("confidence_level", 0.95)
        if not isinstance(value, float) or not 0 < value < 1:
            self.refuse(
                f"confidence_level = {value!r} lies not between 0 and 1.", "confidence_level"
            )
        return value

    def scoring(self) -> str | None:
        value = self.content.get("scoring")
        if value is not None and not (isinstance(value, str) and may_be_loss_name(value)):
            self.refuse(
                f"there is no scoring {value!r}{suggestion_for(str(value), losses) or '.'} Known: "
                f"{', '.join(losses)}, and scikit-learn's scorer names.",
                "scoring",
            )
        return value

    def rule(self) -> str:
        value = self.read_text("rule", "min")
        self.check_with_line(as_rule, value, "rule")
        return value

    def read_list(self, key: str) -> list[Any]:
        value = self.content[key]
        if not isinstance(value, list) or not value:
            self.refuse(f"{key} is to be a list with at least one entry, [...].", key)
        return value

    def refuse_duplicates(self, key: str, values: list[Any]) -> tuple[Any, ...]:
        seen_values = set()
        for i, value in enumerate(values):
            if value in seen_values:
                self.refuse(f"{value!r} stands twice in {key}.", key, i)
            seen_values.add(value)
        return tuple(values)

    def check_with_line(self, check: Callable[[Any], Any], name: str, *key_path: str | int) -> None:
        """Call `check(name)`, and raise its error again with the line of the specification."""
        try:
            check(name)
        except TrueRiskError as error:
            self.refuse(error.sentence.marked_text, *key_path)

    # ------------------------------------------------------------ problems, learners, methods

    def read_entries(self, key: str, check: Callable[..., str]) -> tuple[SpecEntry, ...]:
        checked_entries: list[SpecEntry] = []
        for i, spec_entry in enumerate(self.read_list(key)):
            entry_table = {"word": spec_entry} if isinstance(spec_entry, str) else spec_entry
            if not isinstance(entry_table, dict):
                self.refuse(
                    f"{spec_entry!r} is neither a word nor a table {{word = ..., ...}}.", key, i
                )
            name = check(entry_table, key, i)
            name = entry_table.get("name", name)
            if not isinstance(name, str) or not name.strip():
                self.refuse(f"name = {name!r} is no text.", key, i, "name")
            if name in [spec_entry.name for spec_entry in checked_entries]:
                self.refuse(
                    f"two {key} are called {name!r}: give one of them a name of its own.", key, i
                )
            checked_entries.append(
                SpecEntry(name, {k: v for k, v in entry_table.items() if k != "name"})
            )
        return tuple(checked_entries)

    def check_problem(self, entry_table: dict[str, Any], key: str, entry_index: int) -> str:
        """Check the specification of a problem and return the name of the problem.

        The entry is a word with options, a file with its target, or an import.
        """
        if "import" in entry_table:
            return self.check_import(entry_table, key, entry_index)
        if "file" in entry_table:
            self.check_keys(entry_table, _FILE_KEYS, key, entry_index)
            if not isinstance(entry_table.get("target"), str):
                self.refuse('a file needs its target, target = "column".', key, entry_index)
            return Path(str(entry_table["file"])).stem
        return self.check_registered_name(entry_table, load_problem_registry(), key, entry_index)

    def check_learner(self, entry_table: dict[str, Any], key: str, entry_index: int) -> str:
        """Check the specification of a learner and return the name of the learner.

        The entry is an import, or a word with a setting (`set`) or a grid (`grid`).
        """
        if "import" in entry_table:
            return self.check_import(entry_table, key, entry_index)
        self.check_keys(entry_table, _LEARNER_KEYS, key, entry_index)
        if "set" in entry_table and "grid" in entry_table:
            self.refuse(
                "a learner has set (one setting) or grid (several), not both.", key, entry_index
            )
        for option in ("set", "grid"):
            if not isinstance(entry_table.get(option, {}), dict):
                self.refuse(
                    f"{option} is to be a table, {option} = {{n_neighbors = ...}}.",
                    key,
                    entry_index,
                    option,
                )
        for name, values in entry_table.get("grid", {}).items():
            if not isinstance(values, list) or not values:
                self.refuse(
                    f"grid.{name} is to be a list of values.", key, entry_index, "grid", name
                )
        return self.check_registered_name(
            entry_table, load_learners_module().registry, key, entry_index
        )

    def check_method(self, entry_table: dict[str, Any], key: str, entry_index: int) -> str:
        """Check the specification of a method and return the name of the method.

        The entry is a word with options, or an import. Both may have an interval.
        """
        if "interval" in entry_table:
            self.check_with_line(as_form, entry_table["interval"], key, entry_index, "interval")
        if "import" in entry_table:
            return self.check_import(entry_table, key, entry_index, {"interval"})
        name = entry_table.get("word")
        if not isinstance(name, str):
            self.refuse(
                f"{entry_table!r} is no word of a method, nor has it one.", key, entry_index
            )
        self.check_with_line(
            lambda name: method_from_name(name, method_options(entry_table)), name, key, entry_index
        )
        return f"{name}:{entry_table['interval']}" if "interval" in entry_table else name

    def check_registered_name(
        self, entry_table: dict[str, Any], registry: Any, key: str, entry_index: int
    ) -> str:
        name = entry_table.get("word")
        if not isinstance(name, str):
            self.refuse(f"an entry of {key} has a word, a file or an import.", key, entry_index)
        if name not in registry:
            self.refuse(
                f"there is no {registry.kind} {name!r}{suggestion_for(name, registry) or '.'} "
                f"Known: {', '.join(registry)}.",
                key, entry_index,
            )  # fmt: skip
        return name

    def check_import(
        self,
        entry_table: dict[str, Any],
        key: str,
        entry_index: int,
        extra_keys: Set[str] = frozenset(),
    ) -> str:
        self.check_keys(entry_table, {"import", "name"} | extra_keys, key, entry_index)
        import_path = entry_table["import"]
        if not isinstance(import_path, str) or import_path.count(":") != 1:
            self.refuse(
                f'import = {import_path!r}: write "package.module:name".',
                key,
                entry_index,
                "import",
            )
        if not self.allow_import:
            self.refuse(
                f"import = {import_path!r} runs code of that module: give "
                f"{mention('allow_import', True)} if you trust it.",
                key, entry_index, "import",
            )  # fmt: skip
        return import_path.rpartition(":")[2]

    def check_keys(
        self, entry_table: dict[str, Any], known_keys: Set[str], key: str, entry_index: int
    ) -> None:
        for name in entry_table:
            if name not in known_keys:
                self.refuse(
                    f"{name!r} is no entry here{suggestion_for(name, known_keys) or '.'} Known: "
                    f"{', '.join(sorted(known_keys))}.",
                    key, entry_index, name,
                )  # fmt: skip


# ---------------------------------------------------------------- the line of a mistake

KeyPath = Sequence[str | int]


def find_line(text: str, key_path: KeyPath) -> int | None:
    r"""Return the line (from 1) of a TOML text with the value at a path of keys, or None.

    An example of a path is ("learners", 1, "word"). The line is the first one after which the text
    up to there parses and has the value. Inside a statement of several lines, it is the line that
    contains the value, or else the last key of the path.

    >>> find_line('seed = 1\nmethods = [\n  "loo",\n  "holdout",\n]', ("methods", 1))
    4
    """
    text_lines = text.splitlines()
    n_complete_lines = 0  # The statement with the value starts after these lines.
    for n_lines in range(1, len(text_lines) + 1):
        try:
            value: Any = tomllib.loads("\n".join(text_lines[:n_lines]))
        except tomllib.TOMLDecodeError:
            continue
        try:
            for key in key_path:
                value = value[key]
        except (KeyError, IndexError, TypeError):
            n_complete_lines = n_lines
        else:
            return _line_in_statement(text_lines, n_complete_lines, n_lines, value, key_path)
    return None


def _line_in_statement(
    text_lines: list[str], first_index: int, end_index: int, value: Any, key_path: KeyPath
) -> int:
    """Return the line of a TOML statement with the value, else with its key, else its first line.

    `first_index` is the index of the first line of the statement, from 0. `end_index` is the index
    after its last line.
    """
    value_texts = [str(value).lower() if isinstance(value, bool) else str(value)]
    if isinstance(value, dict):
        value_texts = [str(v) for v in value.values()] + list(value)
    for searched_text in [
        *value_texts,
        *(key for key in reversed(key_path) if isinstance(key, str)),
    ]:
        for line_index in range(first_index, end_index):
            line_without_comment = text_lines[line_index].partition("#")[0]
            if searched_text and searched_text in line_without_comment:
                return line_index + 1
    return first_index + 1
