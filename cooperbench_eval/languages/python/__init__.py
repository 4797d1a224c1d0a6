"""What a Python file defines, binds, uses and calls."""
