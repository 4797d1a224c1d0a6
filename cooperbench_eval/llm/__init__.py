"""Questions to a language model, its answers, and what is asked of these."""
