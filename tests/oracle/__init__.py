"""Oracle models: programs that answer the methods' prompts from a prompt's own content and from nothing else."""
