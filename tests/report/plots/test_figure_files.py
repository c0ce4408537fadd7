"""The figures of a page as files: the same ones, named as they stand there, in the light."""

import re
import sys
from xml.etree import ElementTree as ET

import pytest
from matplotlib.image import imread
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.exceptions import MissingExtra, NotWritten
from truerisk.extend import BadArgument, BadData
from truerisk.report.curves import draw_heat_map
from truerisk.report.page import build_page, svg_file_text
from truerisk.report.plots.marks import draw_on_axes

X, Y = tr.datasets.make_difficult(60, random_state=1)
GRID = {"max_depth": [1, 2], "min_samples_leaf": [1, 3, 5]}


@pytest.fixture(scope="module")
def found():
    learners = {
        "knn": KNeighborsClassifier(),
        "tree": (DecisionTreeClassifier(random_state=0), GRID),
    }
    validate = {"subgroups": {"half": ["a", "b"] * 30}, "replicates": 2}
    return tr.assess(learners, X, Y, cv=["3-fold"], outer="3-fold", validate=validate)


def test_save_figures_writes_every_figure_of_the_page(found, tmp_path):
    """Numbered in its order, those of the validation inside at the end; in every format."""
    names = re.findall(r'<figure id="figure-([\w-]+)"', found.to_html())
    assert len(names) > 8
    files = found.save_figures(tmp_path / "new" / "folder", "svg")
    wanted = [f"{i:02}-{name}.svg" for i, name in enumerate(names, 1)]
    assert [path.name for path in files] == wanted
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == wanted
    files = found.validation.net_benefit.save_figures(tmp_path)
    assert [path.suffix for path in files] == [".svg", ".png", ".pdf"]
    for path, start in zip(files, (b"<svg", b"\x89PNG", b"%PDF"), strict=True):
        assert path.read_bytes().startswith(start)
        assert b"/Type3" not in path.read_bytes()  # letters of a PDF stay letters
    assert imread(files[1]).shape[1] == 1920  # 6.4 inches of 300 dots


def test_figure_file_stands_by_itself(found):
    """Its title, its axes and its keys are in it, and no colour is left to a page."""
    for figure in build_page(found).figures:
        text = svg_file_text(figure)
        svg = ET.fromstring(text)
        words = [part.text for part in svg.iter("{http://www.w3.org/2000/svg}text")]
        axes = [axis.label for axis in (figure.drawing.left, figure.drawing.bottom) if axis]
        assert {figure.title, *axes, *(key.text for key in figure.keys)} <= {*words}
        assert not re.search(r"var\(|url\(|href", text)
        assert float(svg.attrib["height"]) >= figure.drawing.height + 20 * len(figure.keys)
    figure = build_page(found).figures[0]  # a long title is fitted into the width
    assert "textLength" not in svg_file_text(figure)
    object.__setattr__(figure, "title", "x" * 80)
    assert re.search(r'textLength="472"[^>]*>x{80}<', svg_file_text(figure))


def test_heat_grid_is_drawn_by_matplotlib(found, axes):
    """Its cells with their numbers, the frame on the chosen one, and what its axes are."""
    figure = draw_heat_map("tree", found.learners["tree"].curve, "heat")
    ax = draw_on_axes(figure.drawing, figure.keys, axes)
    cells = [bar for bar in ax.patches if bar.get_width() == 1]
    assert len([bar for bar in cells if bar.get_fill()]) == 6
    (frame,) = [bar for bar in cells if not bar.get_fill()]
    best = found.learners["tree"].setting
    row, column = (GRID[name].index(best[name]) for name in GRID)
    assert (frame.get_x(), frame.get_y()) == (column, row)
    shown = {text.get_text() for text in ax.texts}
    assert shown == {f"{v:.3f}" for v in found.learners["tree"].curve.values}
    assert [t.get_text() for t in ax.get_xticklabels()] == ["1", "3", "5"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["1", "2"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("min_samples_leaf", "max_depth")


def test_save_figures_without_matplotlib_writes_svg_alone(found, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtra, match=r"^PNG and PDF need matplotlib: .*truerisk\[plot\]"):
        found.save_figures(tmp_path / "a", ["svg", "pdf"])
    assert not (tmp_path / "a").exists()
    assert {path.suffix for path in found.save_figures(tmp_path / "a", "svg")} == {".svg"}


def test_save_figures_refuses(found, tmp_path):
    """A format that there is not, a file in the place of the folder, a result without a figure."""
    for formats in (["gif"], [], "jpg", None, [["svg"]]):
        with pytest.raises(BadArgument, match="give some of 'svg', 'png' and 'pdf'"):
            found.save_figures(tmp_path, formats)
    (tmp_path / "file").write_text("")
    with pytest.raises(NotWritten, match="cannot be made: File exists"):
        found.save_figures(tmp_path / "file", ["svg"])
    checklist = found.validation.checklist
    with pytest.raises(BadData, match="this Checklist has no figure"):
        checklist.save_figures(tmp_path)


ODD = ("no\ufffe\uffff", "yes\ud800\x0b")


def test_figure_file_is_well_formed_whatever_characters_labels_hold(tmp_path):
    """Names, levels and labels may hold what XML 1.0 forbids, U+FFFE or half a surrogate pair."""
    y = [ODD[label] for label in Y]
    learners = {f"knn{ODD[0]}": KNeighborsClassifier(), f"one{ODD[1]}": KNeighborsClassifier(1)}
    validate = {"subgroups": {f"half{ODD[0]}": [*ODD] * 30}, "replicates": 2}
    odd = tr.assess(learners, X, y, cv=["3-fold"], outer="3-fold", validate=validate)
    for file in odd.save_figures(tmp_path, ["svg", "png"]):
        assert file.suffix == ".png" or ET.parse(file)
    page = odd.to_html(tmp_path / "page.html")
    for text in (page, odd._repr_html_()):
        assert not re.search("[\ufffe\uffff\ud800\x0b]", text)
