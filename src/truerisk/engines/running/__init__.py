"""Running fits: what a model is asked, where batches run, what is kept and what is warned."""
