"""Coefficient paths: every coefficient against λ, one panel per score function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from truerisk.core.errors import BadData
from truerisk.plots.marks import pyplot


def draw_path(
    model: Any, *, ax: Any = None, names: Sequence[str] | None = None, n_named: int = 8
) -> Any:
    """Draw the coefficients of a fitted LogisticPath and return the axes.

    A vertical line marks the λ at which the model answers; the `n_named` largest coefficients
    there are named, by `names`, the columns of the frame, or x0, x1, ... Coefficients are in the
    units of X. Several classes have a panel each and give an array of axes; `ax` is then a
    sequence of as many. Parts that did not converge are dotted.
    """
    classes = model.classes_ if len(model.classes_) > 2 else model.classes_[1:]
    paths = model.coef_path_.reshape(len(model.lambdas_), len(classes), -1)
    names = _names(model, names, paths.shape[2])
    panels = _axes(ax, len(classes))
    for place, (axes, label) in enumerate(zip(panels, classes, strict=True)):
        _draw(axes, model, paths[:, place])
        _name_largest(axes, model.coef_[place], names, model.lambda_, n_named)
        axes.set_title(f"score of class {label}", fontsize="medium")
    panels[0].set_ylabel("coefficient")
    return panels[0] if len(panels) == 1 else np.array(panels)


def _draw(axes: Any, model: Any, path: np.ndarray) -> None:
    ever = path[:, (path != 0).any(axis=0)]
    axes.set_xscale("log")
    axes.invert_xaxis()
    for column, values in enumerate(ever.T):
        (line,) = axes.plot(model.lambdas_, values, linewidth=1.0)
        if not model.converged_.all():
            short = np.where(model.converged_, np.nan, values)
            axes.plot(model.lambdas_, short, ":", linewidth=2.5, color=line.get_color())
            line.set_label(f"_{column}")
    axes.axvline(model.lambda_, color="0.4", linewidth=0.8, linestyle="--")
    axes.axhline(0.0, color="0.7", linewidth=0.6)
    axes.set_xlabel("λ")


def _name_largest(
    axes: Any, values: np.ndarray, names: Sequence[str], place: float, n_named: int
) -> None:
    for column in np.argsort(-np.abs(values), kind="stable")[:n_named]:
        if values[column] != 0:
            axes.annotate(
                names[column],
                (place, values[column]),
                xytext=(3, 0),
                textcoords="offset points",
                fontsize="x-small",
                va="center",
            )


def _names(model: Any, names: Sequence[str] | None, n_columns: int) -> Sequence[str]:
    if names is None:
        names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(n_columns)])
    if len(names) != n_columns:
        raise BadData(f"there are {len(names)} names for {n_columns} columns.")
    return list(map(str, names))


def _axes(ax: Any, n_panels: int) -> list[Any]:
    """The given axes, or those of a new figure."""
    if ax is None:
        size = (3.2 * n_panels + 3.2, 4.0)
        _, drawn = pyplot().subplots(1, n_panels, figsize=size, layout="constrained", squeeze=False)
        return list(drawn[0])
    given = list(np.ravel(ax))
    if len(given) != n_panels:
        raise BadData(f"there are {len(given)} axes for {n_panels} panels.")
    return given
