"""The HTML pages and figures of results, and the small pictures that notebooks show.

| file | what it holds |
|---|---|
| `page.py`, `record.html` | the page of results, whatever they are; their picture in a notebook |
| `figure.svg` | a figure as a file |
| `picture.html` | that picture |
| `record_figures.py` | the figure that stands for a result |
| `panels.py` | those of an experiment |
| `posterior_figures.py` | those of a posterior, of a choice and of rows that are shared |
| `assessment_page.py`, `page.html` | the page of an assessment: what stands on it |
| `audit_page.py`, `audit.html`, `audit_figures.py` | that of an audit |
| `layout.py`, `layout.html`, `macros.html`, `page.js` | what all pages have |
| `page.css`, `marks.css` | its looks; those of the drawings |
| `svg.py`, `figure.py` | marks and scales, and a figure with its table |
| `ladder.py` | the risks of all learners, those of single splits, and the chosen settings |
| `curves.py`, `rates.py`, `learning.py` | more figures |
| `many_page.py`, `many.html`, `many_figures.py` | that of a comparison over many data sets |
| `validation_page.py`, `validation.html` | the page of a validation, and its words |
| `validation_parts.py` | its parts, alone or beside an assessment |
| `validation_figures.py` | its figures |
| `review_figures.py` | its subgroups, stability and checklists |
| `methods_text.py` | what was done, to paste into a paper, and how to repeat it |
"""
