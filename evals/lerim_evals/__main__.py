"""`python -m lerim_evals`; `make eval ARGS="…"` runs it with the right path."""

import sys

from lerim_evals.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
