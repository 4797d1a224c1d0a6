"""What people see of each result, described once for print, notebooks, rich and the page.

`pairs` and `summaries` describe records as a `View`; records name these functions in
their `_view`. `wording` has the words that several descriptions share.
"""
