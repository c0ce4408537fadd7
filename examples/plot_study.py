"""
A study, here and on a cluster
==============================

Which method estimates the risk of a tuned rule best? A study compares methods on many simulated
data sets. A dictionary or a TOML file describes the study, and one file keeps its results. If a
study is interrupted, for whatever reason, it continues from this file. The numbers are the same in
this process, in worker processes and on a cluster.
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
results = study.run()  # in this process; study.run(4) uses four worker processes
status = study.status()
print(f"{status.done} of {status.total} replicates are done, {status.failed} failed")

# %%
# The same study runs on a SLURM cluster through dask-jobqueue. If a job dies, the tasks that it had
# begun are run again (`more about clusters <../clusters.html#more-than-one-machine>`__):
#
# .. code-block:: python
#
#    cluster = SLURMCluster(cores=8, processes=8, memory="16GB", walltime="04:00:00")
#    tr.Study("spec.toml", "runs.db").run(Client(cluster), patience=3600)

# %%
# The figure shows the bias of each method: by how much its estimate differs from the true risk on
# average. Ten-fold cross-validation reports the risk of the best setting in the folds that chose
# this setting, so the risk looks smaller than it is. Nested cross-validation tests the chosen
# setting on other rows.

ax = results.plot("bias")
ax.set_title("The best of several settings looks better than it is")
folder.cleanup()
