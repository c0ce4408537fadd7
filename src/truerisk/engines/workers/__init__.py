"""Where work is done: in this process, on its workers, on an executor of the user, on a cluster.

| file | what it holds |
|---|---|
| `executors.py` | what `executor=` names; lists of batches, whose first error is the end |
| `scheduler.py` | the loop of all runs, of fits and of studies: batches of dead workers run again |
| `crews.py` | what a crew is and what it is sent; an executor of the user; versions, which agree |
| `processes.py` | worker processes of our own, ended with their parent; Ctrl-C amid locks |
| `dask_cluster.py` | a Dask cluster by its address or a Client, which keeps a table for a call |
| `parcels.py` | what all batches share, in a file that worker processes map |
"""
