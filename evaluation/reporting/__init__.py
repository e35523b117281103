"""Reports of results as Markdown, CSV and figures, beside the papers' figures."""
