"""Showing results to people: as plain text, in a notebook, in a terminal with rich.

This room knows no result. A room that has some describes each of them once, as a
`View` (`records.py`), and the renderings here make text, HTML or a rich renderable of
it. `shown.py` is all that is imported with the records of results.
"""
