"""Work in a process of its own, awaited: it can be stopped at any time, with all it started.

Nothing is imported here, since the worker needs little of it.

```
asyncio task      run.py       awaits a thread, and passes a cancellation on
its thread        child.py     starts the guardian, waits for it, takes the answer
guardian          guardian.py  watches over the worker, and leaves nothing of it behind
worker            worker.py    does the work; forked by the guardian
```
"""
