"""JSON as it comes off the wire: fast when it is good, forgiving when it is nearly so.

``jiter`` refuses lone surrogates and broken UTF-8, which servers written in UTF-16 languages send
when they cut an emoji into two deltas. Then the standard parser takes over and the halves are put
together again."""

from __future__ import annotations

import json
from typing import Any


class WireJson:
    """Parses the events of one stream. Not thread-safe."""

    def __init__(self) -> None:
        from jiter import from_json  # comes with openai; late, as all of it

        self._fast = from_json
        self._halves: dict[str, str] = {}  # field name -> the first half of a character

    def parse(self, data: bytes) -> Any:
        """The value in ``data``.

        Raises:
            ValueError: it is no JSON.
        """
        try:
            return self._fast(data)
        except ValueError:
            return self._mend(json.loads(data.decode("utf-8", "replace")), "")

    def _mend(self, value: Any, field: str) -> Any:
        if isinstance(value, dict):
            return {key: self._mend(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._mend(inner, field) for inner in value]
        if not isinstance(value, str):
            return value
        text = self._halves.pop(field, "") + value
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._halves[field] = text[-1]
            text = text[:-1]
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
