"""What the methods' prompts are built from: scene graphs as text, examples, and what was said and done."""
