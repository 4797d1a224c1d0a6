"""Results as people look at them: text, notebooks, figures, a page."""
