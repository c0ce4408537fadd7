"""Preprocessing steps computed for each training set from work that all training sets share.

Text is coded once over all rows. The categories of a training set are then counted, and numbers go
through scikit-learn's own arithmetic without its checks. A step that is not known, or that fails or
warns, is refused, and scikit-learn's steps are fitted instead.
"""
