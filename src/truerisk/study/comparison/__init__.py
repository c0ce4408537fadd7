"""Methods compared over many data sets.

| file | what it holds |
|---|---|
| `scores.py` | the table data set × method, however it was given |
| `terms.py` | what a comparison is told: direction, region, level, the rule for missing cells |
| `missing.py` | data sets on which a method has no value, by a stated rule |
| `pairs.py` | two of the methods: tests, effect, probabilities |
| `comparing.py` | from a table to a comparison |
| `result.py` | the comparison: a frozen value that prints itself |
| `concluding.py` | what it says, in sentences |
| `of_study.py` | the table of a study's replicates |
"""
