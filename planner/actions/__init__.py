"""The operators of each vocabulary, as data, and what follows from them."""
