"""Model providers: the protocol (``base``), the catalogue, and the transports."""
