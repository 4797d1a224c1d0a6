"""Readers of test results: the protocol, and one module for each framework."""
