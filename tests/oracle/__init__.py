"""Oracle models: programs that answer the methods' prompts from their content only."""
