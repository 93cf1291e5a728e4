"""Values that are pictures: figures, images, objects that draw themselves as PNG.

A picture is bounded too: at most ``MAX_SIDE`` pixels a side, so that a model takes it and the
notebook stays small. Recognised by the look of their class; matplotlib and PIL are never imported.
"""

from __future__ import annotations

import base64
import io
from typing import Any

from .base import Image

MAX_SIDE = 1_568  # pixels; larger pictures are scaled down by the models themselves
MAX_BYTES = 8_000_000
_DPI = 100
_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"


def is_picture(value: Any) -> bool:
    """Whether ``picture`` may have an image for it. Cheap; calls nothing of the value."""
    if issubclass(type(value), type):
        return False
    return (
        issubclass(type(value), Image)  # isinstance would ask the value for its __class__
        or _comes_from(value, "matplotlib", "Figure")
        or _comes_from(value, "PIL", "Image")
        or callable(getattr(type(value), "_repr_png_", None))
        or callable(getattr(type(value), "_repr_jpeg_", None))
    )


def picture(value: Any) -> Image | None:
    """The value as a bounded PNG or JPEG, or ``None`` where it turns out to be none."""
    try:
        image = _draw(value)
    except Exception:  # whatever a plotting library raises, the text form is still there
        return None
    return image if image is not None and len(image.data) <= MAX_BYTES else None


def from_bytes(data: bytes) -> Image | None:
    """PNG or JPEG bytes as an image; ``None`` if they are neither."""
    if data.startswith(_PNG):
        return Image("image/png", data)
    return Image("image/jpeg", data) if data.startswith(_JPEG) else None


def size_of(image: Image) -> str:
    """``640×480`` for a PNG, else the number of bytes."""
    if image.data.startswith(_PNG) and len(image.data) >= 24:
        width = int.from_bytes(image.data[16:20], "big")
        height = int.from_bytes(image.data[20:24], "big")
        return f"{width}×{height}"
    return f"{len(image.data):,} bytes"


def _comes_from(value: Any, package: str, name: str) -> bool:
    return any(
        kind.__name__ == name and str(kind.__module__).split(".")[0] == package
        for kind in type(value).__mro__
    )


def _draw(value: Any) -> Image | None:
    if isinstance(value, Image):
        return value
    if _comes_from(value, "matplotlib", "Figure"):
        return _draw_figure(value)
    if _comes_from(value, "PIL", "Image"):
        return _draw_pil(value)
    for name in ("_repr_png_", "_repr_jpeg_"):
        method = getattr(type(value), name, None)
        data = method(value) if callable(method) else None
        if data is not None:
            return _from_repr(data)
    return None


def _from_repr(data: Any) -> Image | None:
    if isinstance(data, tuple):  # (data, metadata)
        data = data[0]
    if isinstance(data, str):
        data = base64.b64decode(data)
    return from_bytes(bytes(data))


def _draw_figure(figure: Any) -> Image:
    width, height = figure.get_size_inches()
    dpi = min(_DPI, MAX_SIDE / max(float(width), float(height), 0.1))
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return Image("image/png", buffer.getvalue())


def _draw_pil(image: Any) -> Image:
    if max(image.size) > MAX_SIDE:
        image = image.copy()
        image.thumbnail((MAX_SIDE, MAX_SIDE))
    if image.mode not in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
        image = image.convert("RGBA" if "A" in image.mode or "a" in image.mode else "RGB")
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return Image("image/png", buffer.getvalue())
