"""Rules that combine the edits of both sides where they changed the same statements."""
