"""``python -m ndcrawl``: the program."""

import sys

from . import main

sys.exit(main())
