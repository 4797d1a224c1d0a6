"""Child processes: started under supervision, and ended with all their descendants.

Nothing is imported here: a sandbox, a worker and an awaited call need different modules.
"""
