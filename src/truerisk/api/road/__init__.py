"""From what a user gave to an evaluation, by one road.

| file | what it holds |
|---|---|
| `problem.py` | one family on checked data, with all that was asked for |
| `compute.py` | a problem and a method → plan → answers → evaluation, with its papers |
| `scorecard.py` | further scores of the same fits: which, and who can tell them |
| `event.py` | one class against the others |
| `testing_method.py` | from `outer=` to the method that tests a tuned learner |
| `weights.py` | how sample weights reach a fit |
| `inner_rows.py` | rows that end a fit early: none that it is tested on, whole groups |
| `usual_word.py` | the method where a user names none |
| `leak_warnings.py` | warnings about copies, groups and later rows on both sides of a split |
| `outer_splits.py` | what happened in the outer splits, and how stable the choices are |
| `provenance.py` | seeds, versions, fingerprints: what a result says of its making |
"""
