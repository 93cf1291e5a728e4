"""Tools the model can call: the ``Tool`` type and ``@tool`` (``base``), and the built-in groups."""
