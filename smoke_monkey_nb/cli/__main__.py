"""``python -m smoke_monkey_nb.cli``, for when the script is not on the PATH."""

from . import main

raise SystemExit(main())
