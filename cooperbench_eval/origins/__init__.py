"""Whose line is this in a merged tree, and where is this line of a side in it?"""
