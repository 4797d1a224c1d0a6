"""The results of CooperBench's evaluator, read so that they can be compared with ours.

The formats of all versions are supported: the `eval.json` of its runners, with and without
counts, for merged, identical and solo patches and for errors, and the two JSON reports of
the paper's pipeline. A fact that is not in the file is `None`.
"""
