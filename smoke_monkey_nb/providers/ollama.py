"""Where Ollama listens, and what it has installed.

``OLLAMA_HOST`` is written in many ways (``0.0.0.0``, ``:8080``, ``host:port``, a URL); it is a
server's address as often as a client's, so "all interfaces" means this machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import urlsplit

_PORT = 11434
_WAIT_S = 0.3


def ollama_url(environ: Mapping[str, str]) -> str:
    """The root URL of Ollama, without ``/v1``."""
    raw = environ.get("OLLAMA_HOST", "").strip().strip("\"'").rstrip("/")
    parts = urlsplit(raw if "://" in raw else f"http://{raw}")
    host = parts.hostname or "127.0.0.1"
    if host in ("0.0.0.0", "::"):  # noqa: S104 - nothing is bound here
        host = "127.0.0.1"
    try:
        port = parts.port
    except ValueError:
        port = None
    if port is None:
        port = {"https": 443}.get(parts.scheme, 80 if "://" in raw else _PORT)
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}:{port}{parts.path.rstrip('/')}"


def installed_models(root_url: str) -> list[str]:
    """The models of an Ollama on this machine; empty where none answers within 0.3 s."""
    from http.client import HTTPConnection, HTTPException

    parts = urlsplit(root_url)
    link = HTTPConnection(parts.hostname or "127.0.0.1", parts.port or _PORT, timeout=_WAIT_S)
    try:
        link.request("GET", f"{parts.path}/api/tags")
        answer = link.getresponse()
        found = json.loads(answer.read(1_000_000)) if answer.status == 200 else {}
    except (OSError, HTTPException, ValueError):
        return []
    finally:
        link.close()
    models = found.get("models") if isinstance(found, dict) else None
    names = [one.get("name") for one in models or () if isinstance(one, dict)]
    return [name for name in names if isinstance(name, str) and name and "embed" not in name]
