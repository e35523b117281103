"""How-to pages, and what generates some of them."""
