"""The questions: what happened to a pair, what can land, what a merge broke, who wrote what."""
