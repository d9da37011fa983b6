"""`python -m lacre` is `lacre`."""

import sys

from lacre.cli import main

sys.exit(main())
