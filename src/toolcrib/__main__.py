"""`python -m toolcrib` is the same as `toolcrib`."""

import sys

from toolcrib.surfaces.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
