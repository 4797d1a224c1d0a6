"""Shows results to people: as plain text, in a notebook, in a terminal with rich.

This package does not depend on the results. A result is described once, as a `View`
(`view.py`), and the renderers here turn a view into text, HTML or a rich renderable.
Importing the records of results imports only `shown.py`.
"""
