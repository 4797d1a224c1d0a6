"""Batches: many pairs are evaluated in parallel, and their reports are stored.

This module imports nothing, so that a worker process loads only what it needs.
"""
