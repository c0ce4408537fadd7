"""Where work is done: in this process, on its workers, on an executor of the user, on a cluster.

| file | what it holds |
|---|---|
| `executors.py` | where batches run: here, or on a crew; those of dead workers run again |
| `crews.py` | worker processes, an executor of the user, a Dask cluster |
| `processes.py` | worker processes of our own: begun once, kept, ended with their parent |
| `interruptions.py` | Ctrl-C amid the work of a library that holds locks: heard after it |
| `parcels.py` | what all batches share, in a file that worker processes map |
| `same_versions.py` | workers of other machines, refused where numbers could differ |
| `dask_cluster.py` | a Dask cluster by its address or a Client, for runs and for studies |
"""
