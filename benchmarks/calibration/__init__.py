"""Whether estimates and intervals keep their promise: `python -m benchmarks.calibration`.

Data sets are drawn from problems whose risk is known, a learner is tuned on each, and every method
and interval is asked how wrong it is. Bias, error, coverage and width come with Monte-Carlo errors.

| file | what it holds |
|---|---|
| `problems.py` | problems that know the risk of any rule |
| `tables.py` | real tables: some rows are drawn, the rest is the truth |
| `rating.py` | what a drawing holds, and the risk of a rule on rows whose truth is known |
| `learners.py` | learners and the settings they are tuned over |
| `battery.py` | which learner meets which problem, and on how many rows |
| `trial.py` | one data set: the true risk, all estimates, all intervals |
| `usual.py` | what others give of a score: c = 1, `cvAUC`, corrected t of the folds |
| `credible.py` | the Bayesian error's interval, by its own rows and by others |
| `store.py` | results in a store of studies; a run goes on where the last one ended |
| `summary.py` | bias, RMSE, coverage and width with their errors |
| `by_loss.py` | every loss by itself, and what falls short |
| `all_rows.py` | what a model of all rows gains: what is said and true, a command of its own |
| `differences.py`, `duels.py` | pairs of learners, a command of its own; what tests say of them |
| `space.py` | the interval of a risk at places, on Gaussian fields, a command of its own |
| `order.py` | series that depend on their past, a command of its own |
| `finished.py` | the same of a finished model on other people's rows, likewise |
| `validated.py` | slope, intercept and net benefit of a validation, a command of its own |
| `tuned_slopes.py` | slope and net benefit of models tuned by four losses, a command of its own |
| `gains.py` | gains over treating everybody or nobody that are shown and do not exist, likewise |
| `two_sides.py` | on which side intervals of Brier and log loss miss, likewise |
| `picture.py` | the coverage of every interval as a picture |
| `__main__.py` | the command line |
"""
