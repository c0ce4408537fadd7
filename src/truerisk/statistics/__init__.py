"""Arrays in, numbers out: formulas that know neither plans nor learners.

| file | what it holds |
|---|---|
| `sample_size.py` | test rows for a width of its interval |
| `long_run.py` | the error of a mean of values that depend on those before them, and on how many |
"""
