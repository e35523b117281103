"""The server of the Model Context Protocol: homes as tools, resources and prompts of any agent."""
