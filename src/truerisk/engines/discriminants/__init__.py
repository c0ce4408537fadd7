"""Discriminant analyses: every shrinkage, and every row left out, from one decomposition.

| file | what it holds |
|---|---|
| `discriminant.py` | the engine of linear discriminants, with every shrinkage |
| `quadratic.py` | the engine of quadratic discriminants |
| `fisher.py` | the engine of FisherClassifier |
| `rule.py` | what settings mean, and which are served |
| `scatter.py` | class means and scatter, and ways to invert a scatter |
| `left_out.py` | fits that lack one row |
| `weighted_samples.py` | many samples at once |
"""
