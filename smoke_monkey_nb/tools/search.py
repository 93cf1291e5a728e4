"""Being built."""

TOOLS = ()
