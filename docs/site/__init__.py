"""The site: the pages of `docs/`, the project's own pages and a generated reference, as `make site` builds them."""
