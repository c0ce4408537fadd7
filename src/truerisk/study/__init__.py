"""Studies: thousands of replicates that survive crashes, on one machine or many.

A study is a set of *cells* (all that determines a result but the number of the replicate), and of
each cell replicates 0, 1, 2 … A *task* is one replicate of one cell; a *fate* is what became of it.

What a user calls
    study.py      `Study`; replicate.py one replicate of it
What a study is
    spec.py       a TOML file, checked; the line of a mistake
Its store
    store.py      one SQLite file; lock.py its one writer
    schema.py     its tables and version, what can become of a task
    values.py     contents, their hashes and seeds; results as JSON and .npy bytes
    status.py     how far it is, and how long it will take
A run
    driving.py    batches go to the scheduler of engines/workers/, fates to the store
    queue.py      what to do next; who is suspected when a worker ends
    tasks.py      one task, timed and packed; a batch of them where it runs
    versions.py   one kind of study and one set of versions per store
    limits.py     what a worker does with a batch; limits, kept by a child process
Single fits of an assessment, or of a search
    keeping.py    what engines leave in a store of their own; learners and data as contents
What was found
    results.py    one row per replicate, one row per cell: bias, RMSE, coverage, cost; as files
    competitors.py  learners or methods as a table to compare over problems
"""
