"""Which features can land together, and in what order."""
