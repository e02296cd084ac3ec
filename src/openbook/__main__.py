"""`python -m openbook`, for environments without `openbook` on the path."""

from __future__ import annotations

import sys

from openbook.cli import main

if __name__ == "__main__":
    sys.exit(main())
