"""The first steps of one preparation in closed form, and what they give of each train set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from truerisk.core.identity import is_exactly, known_class
from truerisk.data.data import Data
from truerisk.engines.preparation.closed import encoding, imputing, joining, scaling, selecting
from truerisk.engines.preparation.closed.coded_data import Cells, Source
from truerisk.engines.preparation.closed.joining import in_turn
from truerisk.engines.preparation.closed.step_tables import Coded, Form, Refused, Table, rendered
from truerisk.engines.preparation.prepared import unless_it_fails

Key = TypeVar("Key")
Made = TypeVar("Made")

SOURCES: WeakKeyDictionary[Data, Source | None] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Closed:
    """How many steps are known, and what they give of a train set and of some sets of rows."""

    n_steps: int
    table: Any
    tests: list[Any]


@dataclass(frozen=True, eq=False)
class _Prefix:
    """The first steps of a preparation, up to one that is not known."""

    form: Form
    n_steps: int
    is_all: bool


KNOWN: WeakKeyDictionary[Any, _Prefix | None] = WeakKeyDictionary()


def closed_steps(
    preparation: Any,
    data: Data,
    train: np.ndarray,
    y: np.ndarray,
    asked: Sequence[np.ndarray],
) -> Closed | None:
    """What the known steps give; None where scikit-learn's own steps are to be fitted.

    `train` are rows, one as often as it comes, and `y` their labels or targets. All is answered or
    nothing, so that nobody is warned twice.
    """
    known, source = _cached(KNOWN, preparation, _prefix), _cached(SOURCES, data, _source)
    if known is None or source is None:
        return None
    out: Callable[[Table], Any] = rendered if known.is_all else _given_on
    try:
        with np.errstate(all="ignore"):  # what is not finite is refused, or seen at the end
            table, apply = known.form(Cells.of(source, train), y)
            tests = [out(apply(Cells.of(source, rows))) for rows in asked]
            return Closed(known.n_steps, out(table), tests)
    except Refused:
        return None


def _cached(
    kept: MutableMapping[Key, Made | None], key: Key, make: Callable[[Key], Made]
) -> Made | None:
    if key not in kept:
        try:
            kept[key] = make(key)
        except Refused:
            kept[key] = None
    return kept[key]


def _source(data: Data) -> Source:
    source = Source(data.X)
    if source.frame is not None and not agrees_on(source.frame, form_of):
        raise Refused("frames that this release of scikit-learn takes otherwise")
    return source


def _prefix(preparation: Any) -> _Prefix:
    from sklearn import get_config

    config = get_config()
    if config["transform_output"] != "default" or config.get("sparse_interface", "") == "sparray":
        raise Refused("tables of another kind between steps")
    forms: list[Form] = []
    for _, step in preparation.steps:
        try:
            forms.append(form_of(step))
        except Refused:
            if not forms:
                raise
            break
    return _Prefix(in_turn(forms), len(forms), len(forms) == len(preparation.steps))


def _given_on(table: Table) -> Any:
    """A table as the next step of scikit-learn is given it: by rows or by columns in memory."""
    if table.sparse:
        return rendered(table)
    if isinstance(table, Cells) or table.kind != "f":
        raise Refused("a table of another kind than doubles")
    return table.numbers()


N, TRAIN, CLASSES = 90, 50, 3
Parameters = Mapping[str, Any]
LENIENT = ("ignore", "infrequent_if_exist", "use_encoded_value")
EVERY: tuple[Parameters, ...] = ({},)
FILL = "most_frequent"
RARE: Parameters = {"handle_unknown": "infrequent_if_exist", "max_categories": 3}

EXAMPLES: Mapping[str, tuple[str, tuple[Parameters, ...]]] = {
    "StandardScaler": ("numbers", ({}, {"with_mean": False})),
    "MinMaxScaler": ("numbers", ({}, {"feature_range": (-1, 2), "clip": True})),
    "MaxAbsScaler": ("numbers", EVERY),
    "RobustScaler": ("numbers", ({}, {"quantile_range": (10, 80)})),
    "OneHotEncoder": (
        "texts",
        ({"handle_unknown": "ignore"}, RARE, {"drop": "if_binary"}, {"min_frequency": 0.2}),
    ),
    "OrdinalEncoder": ("texts", ({}, {"handle_unknown": "use_encoded_value", "unknown_value": -1})),
    "FunctionTransformer": ("numbers", EVERY),
    "VarianceThreshold": ("numbers", ({}, {"threshold": 0.5})),
    "SelectKBest": ("numbers", ({"k": 2},)),
    "SelectPercentile": ("numbers", ({"percentile": 50},)),
}
"""Steps of one class that need no other step, and the table they are tried on."""


@cache
def agrees(place: str, make: Callable[[Any], Form]) -> bool:
    """Asked once per process and class; a few milliseconds."""
    examples = unless_it_fails(lambda: list(_examples(place)))
    return examples is not None and all(_agree(make, *one) for one in examples)


@cache
def agrees_on(frame: str, make: Callable[[Any], Form]) -> bool:
    """Whether scikit-learn takes frames of this class, and columns of them by their names."""
    kind = known_class(frame)
    return all(_agree_on_frame(kind, make, cells) for cells in ("texts", "numbers"))


def _agree_on_frame(kind: Any, make: Callable[[Any], Form], cells: str) -> bool:
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    names = ["a", "b", "c", "d"]
    frame = kind(dict(zip(names, _table(cells).T.tolist(), strict=True)))
    y, train = np.arange(N) % CLASSES, np.arange(1, N)
    step = StandardScaler() if cells == "numbers" else OneHotEncoder(sparse_output=False)
    steps = ColumnTransformer([("some", step, names[1:3])])
    form = make(steps)  # which takes none that is fitted
    theirs = unless_it_fails(lambda: steps.fit_transform(frame[1:], y[train]))
    if theirs is None:
        return False
    table, _ = form(Cells.of(Source(frame), train), y[train])
    return _same(_cells(table), theirs)


def _examples(place: str) -> Iterator[tuple[Any, str]]:
    module, _, name = place.partition(":")
    kind = getattr(import_module(module), name)
    if name in EXAMPLES:
        table, settings = EXAMPLES[name]
        yield from ((kind(**setting), table) for setting in settings)
    elif name == "SimpleImputer":
        yield kind(strategy=FILL), "texts with gaps"
        yield kind(strategy="constant", fill_value="b5"), "texts with gaps"
        for strategy in ("mean", "median", FILL):
            yield kind(strategy=strategy, add_indicator=True), "numbers with gaps"
    else:
        yield _made_of_steps(kind, name)


def _made_of_steps(kind: Any, name: str) -> tuple[Any, str]:
    from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

    scale, encode = StandardScaler(), OneHotEncoder(handle_unknown="ignore")
    if name == "ColumnTransformer":
        return kind([("a", encode, [0, 2]), ("b", "drop", [1])], remainder=encode), "texts"
    return kind([("a", scale), ("b", MaxAbsScaler())]), "numbers"


def _agree(make: Callable[[Any], Form], step: Any, kind: str) -> bool:
    """On a train set with copies; of unknown levels it is asked where there is an answer."""
    X, y = _table(kind), np.arange(N) % CLASSES
    every = np.repeat(np.arange(TRAIN), 1 + np.arange(TRAIN) % 2)
    lenient = getattr(step, "handle_unknown", "") in LENIENT and getattr(step, "drop", None) is None
    asked = np.arange(TRAIN // 2, N if lenient or kind.startswith("numbers") else TRAIN)
    source, form = Source(X), make(step)
    theirs = unless_it_fails(
        lambda: (step.fit_transform(X[every], y[every]), step.transform(X[asked]))
    )
    if theirs is None:
        return False
    table, apply = form(Cells.of(source, every), y[every])
    ours = _cells(table), _cells(apply(Cells.of(source, asked)))
    return all(map(_same, ours, theirs))


def _table(kind: str) -> np.ndarray:
    """Rounded numbers of several sizes, or texts of which some come often and some once."""
    rng = np.random.default_rng(0)
    if kind.startswith("texts"):
        numbers = np.minimum(rng.geometric(0.3, (N, 4)), [2, 4, 6, 8])
        numbers[-1] = 9  # in no train set
        X = np.char.add("b", numbers.astype(str)).astype(object)
    else:
        X = np.round(rng.normal(size=(N, 4)) * [0.1, 1.0, 30.0, 1e4] + [0.0, 1e3, 1.0, -7.0], 2)
    if kind.endswith("gaps"):
        X[rng.random(X.shape) < 0.1] = np.nan
    return X


def _cells(table: Table) -> Any:
    """As a learner is given them; texts, which it is not given, as objects."""
    if not isinstance(table, Coded):
        return rendered(table)
    columns = zip(table.codes.T, table.levels, strict=True)
    return np.array([[one.cells[code] for code in codes] for codes, one in columns], object).T


def _same(ours: Any, theirs: Any) -> bool:
    """Whether two tables hold the same cells in the same form."""
    if hasattr(ours, "toarray") != hasattr(theirs, "toarray"):
        return False
    ours, theirs = (one.toarray() if hasattr(one, "toarray") else one for one in (ours, theirs))
    return ours.shape == theirs.shape and bool((ours == theirs).all())


FORMS: Mapping[str, Callable[[Any], Form]] = {
    "sklearn.preprocessing:StandardScaler": scaling.standard,
    "sklearn.preprocessing:MinMaxScaler": scaling.min_max,
    "sklearn.preprocessing:MaxAbsScaler": scaling.max_abs,
    "sklearn.preprocessing:RobustScaler": scaling.robust,
    "sklearn.preprocessing:OneHotEncoder": encoding.one_hot,
    "sklearn.preprocessing:OrdinalEncoder": encoding.ordinal,
    "sklearn.preprocessing:FunctionTransformer": joining.identity,
    "sklearn.impute:SimpleImputer": imputing.simple_imputer,
    "sklearn.feature_selection:VarianceThreshold": selecting.variance_threshold,
    "sklearn.feature_selection:SelectKBest": selecting.select_k_best,
    "sklearn.feature_selection:SelectPercentile": selecting.select_percentile,
    "sklearn.pipeline:Pipeline": lambda step: joining.pipeline(step, form_of),
    "sklearn.pipeline:FeatureUnion": lambda step: joining.feature_union(step, form_of),
    "sklearn.compose:ColumnTransformer": lambda step: joining.column_transformer(step, form_of),
}


def form_of(step: Any) -> Form:
    """The closed form of a step that is set as it is; refused where there is none."""
    place = next((one for one in FORMS if is_exactly(step, one)), None)
    if place is None:
        raise Refused(f"{type(step).__name__} is not known in closed form")
    form = FORMS[place](step)
    if not agrees(place, FORMS[place]):
        raise Refused(f"{type(step).__name__} does otherwise in this release of scikit-learn")
    return form
