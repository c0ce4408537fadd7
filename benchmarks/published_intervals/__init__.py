"""Published intervals of a risk beside ours: `python -m benchmarks.published_intervals`.

Schulz-Kümpel, Fischer, Hornung, Boulesteix, Nagler and Bischl (2024), Constructing confidence
intervals for 'the' generalization error, arXiv:2409.18836: their simulated problems and thirteen
methods, as two studies of `truerisk study`. What truerisk has is named by its word and its
interval, all else is imported from here.

| file | what it holds |
|---|---|
| `classes.toml`, `numbers.toml` | the studies: problems, learners, methods |
| `__main__.py` | runs parts of them, prints the tables |
| `steep.py` | how often pairs say that the risk falls too steeply |
| `tables.py` | coverage of both targets, width and fits, from the stores |
| `problems.py`, `learners.py` | what the studies import |
| `openml.py` | the paper's data on OpenML, where there is a network |
| `form.py`, `formulas.py` | what the methods share; their arithmetic |
| `replace_one.py`, `two_halves.py` | replace-one, repeated replace-one; 5 × 2 |
| `bagged.py` | out of bag, .632+, location-shifted bootstrap |
| `case_bootstrap.py`, `two_stage.py` | BCCV percentile; two-stage bootstrap |
"""
