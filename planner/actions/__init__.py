"""Operators of each vocabulary as data, and the code derived from them."""
