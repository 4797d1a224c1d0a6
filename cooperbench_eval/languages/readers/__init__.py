"""Readers that turn source text into trees."""
