"""The figures of a result as files: SVG as its page draws them, PNG and PDF by matplotlib."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from truerisk.core.arguments import mention, path_of
from truerisk.core.errors import BadArgument, BadData, MissingExtra, NotWritten
from truerisk.report.figure import Figure
from truerisk.report.page import SERIES, file_of, page_of
from truerisk.report.plots.marks import on_axes, pyplot
from truerisk.results.writing import write_file, write_text

FORMATS = ("svg", "png", "pdf")
DPI = 300


def save_figures(record: Any, folder: Any, formats: Any = FORMATS) -> tuple[Path, ...]:
    """Write every figure of the page in every format, `01-ladder.svg` and on, and say where."""
    several = isinstance(formats, Iterable) and not isinstance(formats, str)
    wanted = list(formats if several else [formats])
    if not wanted or any(form not in FORMATS for form in wanted):
        raise BadArgument(f"{mention('formats', formats)}: give some of 'svg', 'png' and 'pdf'.")
    if set(wanted) != {"svg"}:
        try:
            pyplot()
        except MissingExtra:
            raise MissingExtra(
                "PNG and PDF need matplotlib: pip install 'truerisk[plot]'; SVG needs nothing."
            ) from None
    figures = page_of(record).figures
    if not figures:
        raise BadData(f"this {type(record).__name__} has no figure; to_html() shows what it holds.")
    place = path_of("folder", folder, "figures")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotWritten(f"{place} cannot be made: {error.strerror or error}.") from error
    return tuple(
        _written(figure, place / f"{i:02}-{figure.name}.{form}", form)
        for i, figure in enumerate(figures, 1)
        for form in dict.fromkeys(wanted)
    )


def _written(figure: Figure, place: Path, form: str) -> Path:
    if form == "svg":
        write_text(file_of(figure), place)
        return place
    plt = pyplot()
    looks = {
        "axes.prop_cycle": plt.cycler(color=SERIES),
        "pdf.fonttype": 42,
    }  # letters stay letters
    with plt.rc_context(looks):
        ax = on_axes(figure.drawing, figure.keys, keys_below=True)
        ax.set_title(figure.title, fontsize="medium", wrap=True, parse_math=False)
        whole = ax.get_figure()
        try:
            write_file(place, lambda beside: whole.savefig(beside, format=form, dpi=DPI))
        finally:
            plt.close(whole)
    return place
