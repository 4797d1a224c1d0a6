"""cargo's libtest, and nextest."""
