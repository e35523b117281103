"""`python -m scenecypher`: the same as the `scenecypher` command."""

from scenecypher.cli import main

if __name__ == "__main__":
    main()
