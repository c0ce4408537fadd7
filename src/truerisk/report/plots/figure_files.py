"""Write the figures of a result to files: SVG as on its page, PNG and PDF by matplotlib."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from truerisk.core.arguments import file_path, mention
from truerisk.core.errors import BadArgument, BadData, MissingExtra, NotWritten
from truerisk.report.figure import Figure
from truerisk.report.page import SERIES_COLOURS, build_page, svg_file_text
from truerisk.report.plots.marks import draw_on_axes, import_pyplot
from truerisk.results.writing import write_file, write_text

FILE_FORMATS = ("svg", "png", "pdf")
DOTS_PER_INCH = 300


def save_figures(record: Any, folder: Any, formats: Any = FILE_FORMATS) -> tuple[Path, ...]:
    """Write every figure of a result's page in every format, and return the paths of the files."""
    figures = build_page(record).figures
    if not figures:
        raise BadData(f"this {type(record).__name__} has no figure; to_html() shows what it holds.")
    return write_figures(figures, folder, formats)


def write_figures(
    figures: Sequence[Figure], folder: Any, formats: Any = FILE_FORMATS
) -> tuple[Path, ...]:
    """Write figures to numbered files in every format, and return the paths of the files."""
    has_several_formats = isinstance(formats, Iterable) and not isinstance(formats, str)
    requested_formats = list(formats if has_several_formats else [formats])
    if not requested_formats or any(
        file_format not in FILE_FORMATS for file_format in requested_formats
    ):
        raise BadArgument(f"{mention('formats', formats)}: give some of 'svg', 'png' and 'pdf'.")
    if set(requested_formats) != {"svg"}:
        try:
            import_pyplot()
        except MissingExtra:
            raise MissingExtra(
                "PNG and PDF need matplotlib: pip install 'truerisk[plot]'; SVG needs nothing."
            ) from None
    folder_path = file_path("folder", folder, "figures")
    try:
        folder_path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotWritten(f"{folder_path} cannot be made: {error.strerror or error}.") from error
    return tuple(
        _write_figure(
            figure, folder_path / f"{figure_number:02}-{figure.name}.{file_format}", file_format
        )
        for figure_number, figure in enumerate(figures, 1)
        for file_format in dict.fromkeys(requested_formats)
    )


def _write_figure(figure: Figure, file: Path, file_format: str) -> Path:
    if file_format == "svg":
        write_text(svg_file_text(figure), file)
        return file
    plt = import_pyplot()
    rc_params = {
        "axes.prop_cycle": plt.cycler(color=SERIES_COLOURS),
        "pdf.fonttype": 42,  # Letters in a PDF file stay text.
    }
    with plt.rc_context(rc_params):
        ax = draw_on_axes(figure.drawing, figure.keys, keys_below=True)
        ax.set_title(figure.title, fontsize="medium", wrap=True, parse_math=False)
        matplotlib_figure = ax.get_figure()
        try:
            write_file(
                file,
                lambda temporary_file: matplotlib_figure.savefig(
                    temporary_file, format=file_format, dpi=DOTS_PER_INCH
                ),
            )
        finally:
            plt.close(matplotlib_figure)
    return file
