"""Python that a model wrote, run where it can do nothing but calculate and call the tools that it is given."""
