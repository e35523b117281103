"""Building blocks of the methods' prompts: scene graphs as text, examples, and past actions."""
