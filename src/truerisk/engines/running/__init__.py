"""How fits of scikit-learn run, and what they say.

| file | what it holds |
|---|---|
| `fitting.py` | one fit of one candidate |
| `shared_steps.py` | steps before a learner, fitted once for candidates that begin alike |
| `trie.py` | fitted steps by what they begin with, kept while there is room |
| `answering.py` | what a fitted model is asked, a slow one once, and its answers in codes |
| `jobs.py` | many fits, answers put in their place, or in a store, as they come in |
| `copies.py` | learners that split their own rows, on samples that hold rows several times |
| `listed_draws.py` | drawn train sets one by one, where they are few |
| `members.py` | forests and bagging: their first members, and members without a row |
| `fit_warnings.py` | warnings of a thousand fits, and why one failed, said once |
"""
