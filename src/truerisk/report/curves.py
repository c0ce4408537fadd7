"""Risk curves of a learner: every criterion against the settings, one drawing per loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log10

from truerisk.core.present import clean, number
from truerisk.report.document import Document, LearnerRecord
from truerisk.report.estimates import Curve
from truerisk.report.figure import Figure, FigureTable, Key, thinned
from truerisk.report.heat_map import draw_heat
from truerisk.report.scale import Scale
from truerisk.report.svg import SHAPES, WIDTH, Drawing, series

__all__ = ["draw_curves", "draw_lines"]

HEIGHT, TOP, BOTTOM, LEFT = 264, 30, 222, 52
LEAST = 1e-100  # smaller parameters, or larger ones than its inverse, are not drawn by decades
MOST_MARKS = 48  # points of a line that say their setting
WIDE = 2.0  # decades from which a parameter is drawn on a logarithmic axis


@dataclass(frozen=True)
class Axis:
    """Where the settings stand: on the values of the one number that varies, or in grid order."""

    name: str
    places: tuple[float, ...]
    log: bool = False

    @classmethod
    def of(cls, settings: Sequence[Mapping[str, object]]) -> Axis:
        names = list(dict.fromkeys(name for setting in settings for name in setting))
        varying = [n for n in names if len({repr(s.get(n)) for s in settings}) > 1]
        in_order = cls("setting, in the order of the grid", tuple(map(float, range(len(settings)))))
        if len(varying) != 1:
            return in_order
        values = [setting.get(varying[0]) for setting in settings]
        numbers = [float(v) for v in values if _is_number(v)]  # type: ignore[arg-type]
        if len(numbers) < len(values):
            return in_order
        low, high = min(numbers), max(numbers)
        log = low > LEAST and high < 1 / LEAST and log10(high) - log10(low) > WIDE
        name = clean(varying[0].rpartition("__")[2], 40)
        return cls(name + (", logarithmic" if log else ""), tuple(numbers), log)

    @property
    def order(self) -> list[int]:
        """Settings from left to right."""
        return sorted(range(len(self.places)), key=lambda c: self.places[c])


def draw_curves(learner: LearnerRecord, document: Document, number_on_page: int) -> list[Figure]:
    """A figure per loss that the criteria are in; none for a learner with one setting."""
    if len(learner.curve.settings) < 2:
        return []
    curves = {f"{learner.curve.method} (tuned)": learner.curve, **learner.criteria}
    same = {word: c for word, c in curves.items() if len(c.settings) == len(learner.curve.settings)}
    by_loss: dict[str, dict[str, Curve]] = {}
    for word, curve in same.items():
        by_loss.setdefault(curve.loss, {})[word] = curve
    heat = draw_heat(learner, f"curve-{number_on_page}-heat")
    figures = [
        _of_loss(learner, loss, some, document, f"curve-{number_on_page}-{i}")
        for i, (loss, some) in enumerate(by_loss.items())
    ]
    return [f for f in (heat, *figures) if f is not None]


def _of_loss(
    learner: LearnerRecord, loss: str, curves: Mapping[str, Curve], document: Document, name: str
) -> Figure | None:
    tuned = learner.curve if loss == learner.curve.loss else None
    honest = learner.honest.value if loss == learner.honest.loss else None
    scale = next(iter(curves.values())).scale
    title = f"{scale.noun.capitalize()} curve of {learner.shown}"
    drawing = draw_lines(title, _about(learner, curves), curves, banded=tuned, honest=honest)
    if drawing is None:
        return None
    keys = [Key(series(i), clean(w, 60), SHAPES[i % 6]) for i, w in enumerate(curves)]
    keys.append(Key("ring", "chosen by the criterion", "ring"))
    if honest is not None:
        keys.append(Key("honest", f"honest {learner.honest.scale.noun} of tuning", "line"))
    band = " The band is ± 1 standard error." if tuned and any(tuned.std_errors) else ""
    return Figure(
        name=name,
        title=f"{learner.shown}: {scale.of(loss)} against its settings",
        drawing=drawing,
        caption=f"Rule {clean(document.rule, 40)} chose {learner.chosen}.{band}",
        table=_table(learner, curves),
        keys=tuple(keys),
    )


def draw_lines(
    title: str,
    about: str,
    curves: Mapping[str, Curve],
    *,
    banded: Curve | None,
    honest: float | None = None,
) -> Drawing | None:
    """Curves of the same settings in one loss; `banded` has its standard errors drawn."""
    first = next(iter(curves.values()))
    axis = Axis.of(first.settings)
    heights = [v for curve in curves.values() for v in curve.values if v is not None]
    if not heights:
        return None
    if banded:
        heights += [value + sign * e for value, e in _errors(banded).values() for sign in (-1, 1)]
    heights += [honest] if honest is not None else []
    drawing = Drawing(
        title=title,
        about=about,
        height=HEIGHT,
        x=Scale.around(axis.places, LEFT, WIDTH - 12, log=axis.log, margin=0.03),
        y=Scale.around(heights, BOTTOM, TOP),
    )
    drawing.left_axis(first.scale.axis(first.loss))
    drawing.bottom_axis(axis.name, _ticks(axis))
    if honest is not None:
        drawing.level(honest, "honest")
    if banded:
        _draw_band(drawing, banded, axis)
    for i, (word, curve) in enumerate(curves.items()):
        _draw_line(drawing, clean(word, 60), curve, axis, i)
    return drawing


def _errors(curve: Curve) -> dict[int, tuple[float, float]]:
    """Risk and standard error of the settings that have both."""
    return {
        c: (value, error)
        for c, (value, error) in enumerate(zip(curve.values, curve.std_errors, strict=True))
        if value is not None and error is not None
    }


def _draw_band(drawing: Drawing, curve: Curve, axis: Axis) -> None:
    errors = _errors(curve)
    order = [c for c in axis.order if c in errors]
    if len(order) > 1:
        order = [order[i] for i in thinned(len(order))]
        xs = [axis.places[c] for c in order]
        lows = [errors[c][0] - errors[c][1] for c in order]
        highs = [errors[c][0] + errors[c][1] for c in order]
        drawing.band(xs, lows, highs, "s0")


def _draw_line(drawing: Drawing, word: str, curve: Curve, axis: Axis, number_of: int) -> None:
    known = [c for c in axis.order if curve.values[c] is not None]
    order = [known[i] for i in thinned(len(known))]
    if curve.best in known and curve.best not in order:
        order = sorted([*order, curve.best], key=lambda c: axis.places[c])
    values = {c: v for c, v in enumerate(curve.values) if v is not None}
    look = series(number_of)
    drawing.line([axis.places[c] for c in order], [values[c] for c in order], look)
    marked = [order[i] for i in thinned(len(order), MOST_MARKS)]
    for c in marked if curve.best in marked or curve.best not in values else [*marked, curve.best]:
        said = f"{curve.said(c)}: {number(values[c])}{_error(curve, c)} ({word})"
        shape = SHAPES[number_of % 6]
        drawing.point(axis.places[c], values[c], look, said, shape=shape, size=3.2)
    if curve.best in values:
        drawing.point(axis.places[curve.best], values[curve.best], f"ring {look}", size=7.5)


def _error(curve: Curve, candidate: int) -> str:
    error = curve.std_errors[candidate]
    return "" if error is None else f" ± {number(error)}"


def _ticks(axis: Axis) -> list[float] | None:
    """Few settings in grid order are ticked one by one; else round numbers."""
    whole = all(p == int(p) for p in axis.places)
    if axis.log or not whole or len(axis.places) > 9:
        return None
    return sorted(set(axis.places))


def _about(learner: LearnerRecord, curves: Mapping[str, Curve]) -> str:
    chosen = "; ".join(
        f"{clean(word, 60)} chooses {curve.said(curve.best)} "
        f"with {number(curve.values[curve.best])}"
        for word, curve in curves.items()
    )
    noun = next(iter(curves.values())).scale.noun.capitalize()
    return f"{noun} of {len(learner.curve.settings)} settings of {learner.shown}. {chosen}."


def _table(learner: LearnerRecord, curves: Mapping[str, Curve]) -> FigureTable:
    head = ["setting", *(clean(word, 60) for word in curves)]
    rows = []
    for c in range(len(learner.curve.settings)):
        cells = [_cell(curve, c) for curve in curves.values()]
        rows.append([learner.curve.said(c), *cells])
    return FigureTable.of(head, rows)


def _cell(curve: Curve, candidate: int) -> str:
    others = " may be best (95 %)" if candidate in curve.best_set else ""
    mark = " ← chosen" if candidate == curve.best else others
    return f"{number(curve.values[candidate])}{_error(curve, candidate)}{mark}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
