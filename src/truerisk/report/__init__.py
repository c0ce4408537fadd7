"""The HTML page of an assessment, and the small pictures that notebooks show.

| file | what it holds |
|---|---|
| `page.py`, `page.html`, `page.js` | the page: what stands on it |
| `page.css`, `marks.css` | its looks; those of the drawings |
| `document.py`, `reading.py` | the JSON of an assessment, read with care |
| `notebook.py` | small pictures for notebooks |
| `svg.py`, `scale.py`, `figure.py` | marks, scales, and a figure with its table |
| `ladder.py`, `curves.py`, `heat.py`, `boxes.py`, `posterior.py` | the figures |
| `rates.py`, `calibration.py`, `stability.py` | more figures |
| `methods_text.py` | what was done, to paste into a paper, and how to repeat it |
"""
