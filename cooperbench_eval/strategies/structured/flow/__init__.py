"""The flow of values and of control through functions, and what merges do to it."""
