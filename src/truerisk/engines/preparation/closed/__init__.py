"""Steps before a learner, answered for every train set from what is computed once over all rows.

Text is coded once; levels of a train set are then counted, and numbers go through scikit-learn's
own arithmetic without its checks. A step that is not known, or has something to say (it fails, it
warns), is refused, and scikit-learn's steps are fitted.
"""
