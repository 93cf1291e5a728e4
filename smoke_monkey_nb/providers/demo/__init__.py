"""The offline demo: an OpenAI-compatible chat server inside this process, answered by rules instead
of a model.

It exists so that everything else can be tried without a key and without a network: the provider
code speaks real HTTP to it, gets real SSE with tool calls in fragments, and the tools it calls are
the agent's own, on the user's data. The server listens on loopback alone, asks for a token made at
start, and ends with the process. It keeps no conversation: every answer is worked out from the
messages of the request.

Model names are free; some make a fault for teaching (see ``faults``): ``demo:hiccup``,
``demo:cut``, ``demo:fail``, ``demo:down``, ``demo:overflow``. The word "hiccup" in a prompt does
what ``demo:hiccup`` does.
"""

from __future__ import annotations

from .server import PACE_VARIABLE, api_key, serve

__all__ = ["PACE_VARIABLE", "api_key", "serve"]
