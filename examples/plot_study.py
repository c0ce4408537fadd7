"""
A study, here and on a cluster
==============================

Which method estimates the risk of a tuned rule best? A study asks many data sets. It is a table of
words, its results are kept in one file, and it goes on after anything; the numbers are the same in
this process, in workers, and on a cluster.
"""

import tempfile

import truerisk as tr

spec = {
    "replicates": 40,
    "sizes": [20, 60],
    "problems": ["simple"],
    "learners": ["knn"],
    "methods": ["10-fold", "nested"],
    "n_test": 2000,
}
folder = tempfile.TemporaryDirectory()
study = tr.Study(spec, f"{folder.name}/runs.db")
results = study.run()  # here; study.run(4): four worker processes
status = study.status()
print(f"{status.done} of {status.total} replicates are done, {status.failed} failed")

# %%
# The same two lines on SLURM, by dask-jobqueue; jobs may die, and what they had begun is done again
# (`more <../clusters.html#more-than-one-machine>`__):
#
# .. code-block:: python
#
#    cluster = SLURMCluster(cores=8, processes=8, memory="16GB", walltime="04:00:00")
#    tr.Study("spec.toml", "runs.db").run(Client(cluster), patience=3600)

# %%
# What the risk that a method reports is off by, on average. The best of several settings looks
# better than it is to the folds that chose it; nested cross-validation tests on other rows.

ax = results.plot("bias")
ax.set_title("The best of several settings looks better than it is")
folder.cleanup()
