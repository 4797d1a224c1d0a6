"""jest, vitest, and the runner of Node."""
