"""Questions to a language model: prompts, requests, answers and their checks."""
