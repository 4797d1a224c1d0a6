"""Many pairs: where they are evaluated, and where their reports are kept.

Nothing is imported here: a worker process waits for no more than it needs.
"""
