"""Nouns and contracts: what the other rooms speak of. Nothing here knows a learner or a method.

| file | what it holds |
|---|---|
| `data.py`, `tables.py` | rows, labels, groups, weights; rows of any table a user may hold |
| `cells.py`, `checksums.py`, `marks.py` | what columns hold; sums and marks of rows |
| `family.py` | a learner with its candidates |
| `identity.py` | whether an object is what a known class makes |
| `plan.py`, `coding.py` | which fit sees what and is asked what; what that is coded in |
| `planning.py`, `bulk.py` | plans question by question; plans of many fits at once |
| `samples.py` | plans of drawn samples |
| `order.py` | whether splits go forward in time |
| `leaks.py` | rows tested by models that saw a copy, or another row of the group |
| `answers.py` | predictions of all candidates in flat blocks |
| `losses.py`, `loss_words.py` | what an answer costs; what users may write as `loss=` |
| `positive.py` | which of two classes a score of one class rates |
| `contracts.py` | Method, Engine, Rule, and what passes between them |
| `results.py`, `breakdown.py`, `interval.py`, `posterior.py` | frozen results |
| `calibration.py` | whether probabilities mean what they say |
| `sample_size.py` | test rows for a width of the posterior's interval |
| `roc.py`, `delong.py`, `operating.py` | ROC curves; their area and its variance; thresholds |
| `spread.py`, `ties.py` | the numbers of a box plot; what counts as the same risk |
| `present.py`, `writing.py` | numbers and tables as text and HTML; files of results |
| `registry.py`, `errors.py`, `progress.py` | words, sentences, who listens |
| `arguments.py` | checks of arguments |
"""
