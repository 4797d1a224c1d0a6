"""Evaluates pairs and teams, plans landings, probes branches, and audits and explains merges."""
