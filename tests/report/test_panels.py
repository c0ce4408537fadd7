"""The panels of an experiment as figures: what each kind draws, and where it is shown."""

import re
from dataclasses import fields, replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from truerisk.experiments import figures
from truerisk.experiments.figures import Panel, PanelGroup, Report, Series, mean_line
from truerisk.extend import BadData
from truerisk.report.panels import BAND_STD_ERRORS, LineSeries, LinesPanel, draw_panels
from truerisk.report.svg import Mark

X = np.arange(5)
POINTS = np.random.default_rng(0).random((2, 60))


def report_of(*panels: Panel) -> Report:
    """A report with these panels and nothing else."""
    told = {"name": "toy", "title": "A toy", "document": "", "unit": "sets"}
    figures = (PanelGroup("toy", panels),)
    return Report(tables=(), figures=figures, replicates=2, seed=0, seconds=0.1, **told)


SAID = ("one gene: <b>4</b> and 1", "two genes: 3 and 2", "five genes: 2 and 6")


def slides() -> Report:
    """A report with a panel that slides, a sentence for each step, and one that does not."""
    lines = (
        Series("a", np.arange(1, 4), np.array([4, 3, 2]), "C0o-"),
        Series("b", np.arange(1, 4), np.array([1, 2, 6]), "C1s--"),
    )
    sliding = Panel("toy", "genes", "error", lines, names=("1", "2", "5"), steps=SAID)
    return report_of(sliding, Panel("plain", "genes", "error", lines))


def figure_of(*series: Series, **options):
    """That of one panel."""
    (figure,) = draw_panels(report_of(Panel("", "x", "y", series, **options)))
    return figure


def marks_of(figure, kind):
    """Its marks of one kind."""
    return [m for m in figure.drawing.marks if isinstance(m, Mark) and m.kind == kind]


def test_panels_are_figures_with_titles():
    """Its own, or that of the report; names differ, as files are called by them."""
    lines = Series("a", X, X)
    panels = Panel("first", "x", "y", (lines,)), Panel("", "x", "y", (lines,))
    figures = draw_panels(report_of(*panels))
    assert [(f.name, f.title) for f in figures] == [("toy-1", "first"), ("toy-2", "A toy")]
    assert figure_of(lines).name == "toy"


@pytest.mark.parametrize(
    ("style", "line", "shape"),
    [
        ("-", "solid s0", ""),
        ("C3--", "beyond s3", ""),
        ("k:", "dotted ink", ""),
        ("rs-.", "mixed s1", "square"),
        ("bo", "", "dot"),
    ],
)
def test_style_of_a_series_is_a_look(style, line, shape):
    figure = figure_of(Series("a", X, X, style))
    assert [m.css_class for m in marks_of(figure, "line")] == ([line] if line else [])
    assert {m.shape for m in marks_of(figure, "point")} == ({shape} if shape else set())
    (key,) = figure.keys
    assert (key.css_class, key.kind) == (line or "bare s0", shape or "line")


def test_series_without_a_colour_differ():
    figure = figure_of(Series("a", X, X), Series("b", X, X, "-", 0.3), Series("c", X, X, "k-", 2.4))
    looks = [m.css_class for m in marks_of(figure, "line")]
    assert looks == ["solid s0", "solid faint s1", "solid bold ink"]
    nine = figure_of(*(Series(str(i), X, X) for i in range(9)))
    assert len({m.css_class for m in marks_of(nine, "line")}) == 9


def test_mean_line_has_a_band_of_two_standard_errors():
    values = np.random.default_rng(0).normal(size=(100, 4))
    line = mean_line("mean", np.arange(4), values)
    (band,) = marks_of(figure_of(line, Series("one", np.arange(4), values[0])), "band")
    assert max(band.ys) == pytest.approx((line.y + 2 * line.error).max())
    assert min(band.ys) == pytest.approx((line.y - 2 * line.error).min())


def test_series_is_cut_at_the_limits():
    """By hand: 0, 4, 0, 4 crosses 2 in the middle between its points."""
    line = Series("a", np.arange(4), np.array([0, 4, 0, 4]))
    figure = figure_of(line, limits=(0.0, 2.0))
    pieces = [(m.xs, m.ys) for m in marks_of(figure, "line")]
    assert pieces == [((0, 0.5), (0, 2)), ((1.5, 2, 2.5), (2, 0, 2))]
    assert (figure.drawing.y.low, figure.drawing.y.high) == (0, 2)


def test_names_of_a_panel_stand_inside():
    line = Series("a", np.array([2, 3]), np.array([0.1, 0.2]), "o-")
    figure = figure_of(line, names=("-22", "0", "22", "40"))
    left, right = figure.drawing.x(1), figure.drawing.x(4)
    assert 52 <= left < right <= 468
    assert [row[1] for row in figure.table.rows] == ["0", "22"]


def test_many_points_are_one_mark():
    """A thousand circles would be a hundred kilobytes."""
    figure = figure_of(Series("a", np.arange(1000), np.arange(1000), "C0."))
    (dots,) = marks_of(figure, "dots")
    assert len(dots.xs) == 1000
    assert not marks_of(figure, "point")
    assert str(figure.svg).count("h0") == 1000


def test_counts_are_cells_with_lines_at_the_means():
    figure = figure_of(Series("", *POINTS), kind="counts")
    assert sum(float(m.label) for m in marks_of(figure, "cell")) == 60
    assert marks_of(figure, "upright")[0].xs[0] == pytest.approx(POINTS[0].mean())
    assert marks_of(figure, "level")[0].ys[0] == pytest.approx(POINTS[1].mean())


@pytest.mark.parametrize(("shift", "n_lines"), [(0.0, 0), (-2.0, 1)])
def test_boxes_lie_in_rows_with_names_and_means(shift, n_lines):
    values = np.array([0.0, 1.0, 2.0, 3.0, 9.0])
    both = tuple(Series(name, np.empty(0), values + shift) for name in ("first", "second"))
    figure = figure_of(*both, kind="boxes")
    assert list(figure.drawing.names.values()) == ["first", "second"]
    assert [m.xs[2] for m in marks_of(figure, "box")] == [2.0 + shift] * 2
    means = [m.xs[0] for m in marks_of(figure, "point") if m.css_class == "s1"]
    assert means == pytest.approx([3.0 + shift] * 2)
    assert len(marks_of(figure, "upright")) == n_lines


def test_bars_of_two_stand_side_by_side_and_whiskers_stay_inside():
    """A share of 100 % has no whisker to 106 %, nor one of 0 % to −6 %."""
    shares, places = np.array([0.0, 50.0, 100.0]), np.arange(1.0, 4.0)
    both = (Series(name, places, shares, error=np.full(3, 3.0)) for name in ("a1", "a2"))
    won = Series("the winner", places, shares + 4, "kv")
    names = ("ub", "q2", "err")
    figure = figure_of(*both, won, kind="bars", names=names, limits=(0, 100))
    bars = marks_of(figure, "bar")
    assert len({bar.xs for bar in bars}) == 6
    assert {bar.css_class for bar in bars} == {"s0", "s1"}
    ends = [mark.ys for mark in marks_of(figure, "slope")]
    assert ends == [(0, 6), (44, 56), (94, 100)] * 2
    assert [key.text for key in figure.keys] == ["a1", "a2", "the winner"]
    assert figure.drawing.bottom.names == list(names)
    assert {mark.shape for mark in marks_of(figure, "point")} == {"down"}
    assert figure.drawing.y.high > 104


def test_shades_mark_the_least_of_a_column():
    """As it is printed: .0501 and .0503 are both .050; what is missing wins nothing."""
    rows = {"CV": [0.0501, 0.2], "BEE": [0.0503, np.nan], "EBIC": [0.1, 0.3]}
    series = tuple(Series(name, np.arange(2), np.array(of)) for name, of in rows.items())
    figure = figure_of(*series, kind="shades", names=("n = 28", "n = 50"))
    assert [(m.xs[0], m.ys[0]) for m in marks_of(figure, "frame")] == [(0, 0), (1, 0), (0, 1)]
    written = marks_of(figure, "inscription")
    assert {m.css_class.split()[-1] for m in written} == {"on-light", "on-dark"}
    marked = figure_of(
        *series, kind="shades", names=("n = 28", "n = 50"), marked=("  ", "+−", " +")
    )
    looks = [(m.label, m.css_class.split()[1]) for m in marks_of(marked, "inscription")]
    assert [one for one in looks if one[1] in ("bold", "italic")] == [
        ("0.050", "bold"), ("–", "italic"), ("0.300", "bold"),
    ]  # fmt: skip
    assert [m.label for m in written if m.label == "–"] == ["–"]
    shades = [mark.css_class for mark in marks_of(figure, "cell")]
    assert shades == ["h0", "h0", "h0", "h0", "h8", "h8"]


def test_report_shows_itself_in_a_notebook_and_on_its_page(tmp_path):
    report = report_of(*(Panel(t, "x", "y", (Series("a", X, X),)) for t in ("one", "two")))
    view = report._repr_html_()
    assert view.count('<svg class="drawing"') == 2
    assert view.count('<ul class="keys">') == 2
    assert view.index("one") < view.index("two")
    assert view.startswith("<pre style='font-family:monospace")
    page = report.to_html()
    assert "<h1><bdi>A toy</bdi></h1>" in page
    facts = re.findall("<span><bdi>(.+?)</bdi></span>", page.partition("<main>")[0])
    assert facts == ["truerisk reproduce toy", "2 sets", "seed 0"]
    paths = report.save_figures(tmp_path, "svg")
    assert [path.name for path in paths] == ["01-toy-1.svg", "02-toy-2.svg"]
    again = report.save_figures(tmp_path / "again", "svg")
    assert [path.read_bytes() for path in paths] == [path.read_bytes() for path in again]


def test_report_is_drawn_with_matplotlib():
    """Axes for every panel, or those that are given; dashes and widths are kept."""
    lines = Series("thin", X, X, "C1-", 0.3), Series("thick", X, X, "k:", 2.4)
    shades = Series("a", np.arange(2), np.array([0.1, 0.2])), Series("b", X[:2], np.ones(2))
    report = report_of(
        Panel("one", "x", "y", lines),
        Panel("two", "x", "y", (Series("", *POINTS),), "counts"),
        Panel("three", "", "y", shades, "shades", ("p", "q"), marked=("++", "− ")),
        Panel("four", "x", "y", (Series("", np.arange(500), np.arange(500), "C0."),)),
    )
    panels = report.plot()
    assert [ax.get_title() for ax in panels] == ["one", "two", "three", "four"]
    thin, thick = panels[0].get_lines()[:2]
    assert [thin.get_linestyle(), thick.get_linestyle()] == ["-", ":"]
    assert thin.get_linewidth() < 1 < 2 < thick.get_linewidth()
    bold = [text.get_text() for text in panels[2].texts if text.get_fontweight() == "bold"]
    assert bold == ["0.100", "0.200"]
    assert len(panels[3].get_lines()[0].get_xdata()) == 500
    plt.close("all")
    with pytest.raises(BadData, match="there are 2 axes for 4 panels"):
        report.plot(ax=plt.subplots(1, 2)[1])
    plt.close("all")


def test_lines_of_results_have_the_fields_of_an_experiment():
    """Pages are drawn without the experiments, by the same functions and with the same bands."""
    for own, theirs in ((LineSeries, Series), (LinesPanel, Panel)):
        mine, others = ({f.name: f.default for f in fields(cls)} for cls in (own, theirs))
        assert mine == others
    assert BAND_STD_ERRORS == figures.BAND_STD_ERRORS


def shown(opened) -> tuple[list[str], list[int]]:
    """The sentences in sight, and which points are large."""
    said = [one.inner_text() for one in opened.page.query_selector_all(".steps li:visible")]
    places = "all => all.flatMap((one, i) => one.classList.contains('at') ? [i] : [])"
    return said, opened.page.eval_on_selector_all("#figure-toy-1 .drawing .point", places)


def test_slider_of_a_panel_goes_through_the_steps(show):
    """Each with its sentence, which a screen reader hears; a copied drawing is that of no step."""
    opened = show(slides().to_html())
    slider = opened.page.locator("input[type=range]")
    assert slider.count() == opened.page.get_by_label("genes", exact=True).count() == 1
    slider.focus()
    opened.page.keyboard.press("Home")
    for i, said in enumerate(SAID):
        assert shown(opened) == ([said], [i, i + 3])
        assert slider.get_attribute("aria-valuetext") == said
        opened.page.keyboard.press("ArrowRight")
    opened.page.click("#figure-toy-1 summary:has-text('Save')")
    with opened.page.expect_download() as saved:
        opened.page.click("#figure-toy-1 [data-save=svg]")
    text = saved.value.path().read_text("utf-8")
    assert 'class="point s0"' in text
    assert not {"point s0 at", "point s1 at"} & set(text.split('"'))


def test_sliders_of_panels_with_as_many_steps_move_together(show):
    (panel,) = slides().figures[0].panels[:1]
    opened = show(report_of(panel, replace(panel, title="other")).to_html())
    first, second = opened.page.locator("input[type=range]").all()
    second.focus()
    opened.page.keyboard.press("End")
    assert first.input_value() == second.input_value() == str(len(SAID) - 1)
    said = [one.inner_text() for one in opened.page.query_selector_all(".steps li:visible")]
    assert said == [SAID[-1]] * 2


def test_steps_of_a_panel_are_read_without_script_and_on_paper(show):
    still, printed = show(slides().to_html(), java_script_enabled=False), show(slides().to_html())
    printed.page.emulate_media(media="print")
    for opened in (still, printed):
        assert shown(opened)[0] == list(SAID)
        assert not opened.page.locator("input[type=range]").is_visible()
