"""What source code means: trees of constructs, names, faults and hazards, and merges of tokens."""
