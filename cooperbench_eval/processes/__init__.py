"""Child processes: started under supervision, stopped in order, and nothing left of them.

Nothing is imported here: a sandbox, a worker and an awaited call need different modules.
"""
