"""Whether estimates and intervals keep their promise: `python -m benchmarks.calibration`.

Data sets are drawn from problems whose risk is known, a learner is tuned on each, and every method
and interval is asked how wrong it is. Bias, error, coverage and width come with Monte-Carlo errors.

| file | what it holds |
|---|---|
| `problems.py` | problems that know the risk of any rule |
| `learners.py` | learners and the settings they are tuned over |
| `battery.py` | which learner meets which problem, and on how many rows |
| `trial.py` | one data set: the true risk, all estimates, all intervals |
| `store.py` | results in a store of studies; a run goes on where the last one ended |
| `summary.py` | bias, RMSE, coverage and width with their errors |
| `picture.py` | the coverage of every interval as a picture |
| `__main__.py` | the command line |
"""
