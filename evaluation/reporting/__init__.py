"""Results made readable: Markdown, CSV and figures, beside the papers' figures."""
