"""Whatever a tool returns becomes a ``ToolOutput``: bounded valid text, or a picture.

Texts stay as they are, data becomes JSON, frames and arrays a preview with shape and types,
pictures an image. Never raises for what a value's own class does wrong.
"""

from __future__ import annotations

import inspect
from typing import Any

from . import describing, pictures, tables, values
from .base import RESULT_LIMIT, Image, ToolOutput
from .text import bounded

_MAX_IMAGES = 8
_EMPTY = "(empty)"


def to_output(value: Any) -> ToolOutput:
    """``value`` as a model gets it: at most ``RESULT_LIMIT`` characters and 8 images.

    A coroutine is described, not awaited: the loop awaits those of async tools before.
    """
    try:
        return _convert(value)
    except Exception as error:  # the last net: a class that breaks even attribute access
        name = type(value).__name__
        return ToolOutput(f"<{name} object that cannot be shown ({type(error).__name__})>")


def _convert(value: Any) -> ToolOutput:
    if isinstance(value, ToolOutput):
        text = bounded(str(value.text), RESULT_LIMIT)
        return ToolOutput(text or _EMPTY, tuple(value.images)[:_MAX_IMAGES])
    if pictures.is_picture(value):
        image = pictures.picture(value)
        if image is not None:
            return ToolOutput(_picture_text(value, image), (image,))
    if isinstance(value, (list, tuple)) and _holds_pictures(value):
        return _mixed(value)
    return ToolOutput(bounded(_text(value), RESULT_LIMIT) or _EMPTY)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float):
        return _float_text(value)
    if tables.is_tabular(value):
        return tables.preview(value)
    if isinstance(value, (bytes, bytearray, memoryview, BaseException)):
        return describing.describe(value)
    if values.is_data(value):
        return values.as_json(value)
    if inspect.iscoroutine(value):
        text = describing.describe(value)
        value.close()  # nobody will await it; keeps Python from warning about that
        return text
    plain = describing.plain_text(value)
    return describing.describe(value) if plain is None else plain


def _float_text(value: float) -> str:
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return float.__repr__(value)


def _holds_pictures(items: Any) -> bool:
    return len(items) <= 50 and any(pictures.is_picture(item) for item in items)


def _mixed(items: Any) -> ToolOutput:
    """A list of texts, data and pictures: the texts in order, and the pictures."""
    outputs = [to_output(item) for item in items]
    images = tuple(image for output in outputs for image in output.images)[:_MAX_IMAGES]
    return ToolOutput(bounded("\n".join(o.text for o in outputs), RESULT_LIMIT), images)


def _picture_text(value: Any, image: Image) -> str:
    name = "Image" if isinstance(value, Image) else describing.type_name(value)
    return f"[{name}: {image.media_type.removeprefix('image/').upper()}, {pictures.size_of(image)}]"
