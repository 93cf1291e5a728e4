"""The border to other people's code: tools, hooks, policies, subscribers, providers of the user's.

Such code may raise anything. ``SystemExit`` and ``KeyboardInterrupt`` end an event loop when a task
lets them out, and any other ``BaseException`` passes every ``except Exception``: one ``sys.exit``
in a hook would take the whole run along. So at the border each becomes a ``ForeignError``, and
what it says is read with care. A person's Ctrl-C stays one: it arrives on the main thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


class ForeignError(Exception):
    """Stands for something that is no ``Exception``; its text names it."""


def told(error: BaseException) -> str:
    """The error's class and words on one line of reasoning, whatever its ``__str__`` does."""
    if isinstance(error, ForeignError):
        return str(error)
    try:
        said = str(error)
    except BaseException as failure:
        if is_interrupt(failure):
            raise
        said = ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def tamed(error: BaseException) -> BaseException:
    """The error as it may be raised in a task: itself, or a ``ForeignError`` that stands for it."""
    # A future refuses StopIteration.
    if isinstance(error, (Exception, asyncio.CancelledError)) and not isinstance(
        error, StopIteration
    ):
        return error
    wrapped = ForeignError(told(error))
    wrapped.__cause__ = error
    return wrapped


def is_interrupt(error: BaseException) -> bool:
    """Whether this may be a person's Ctrl-C, which is never to be kept."""
    on_main = threading.current_thread() is threading.main_thread()
    return isinstance(error, KeyboardInterrupt) and on_main


async def contained(awaitable: Awaitable[T]) -> T:
    """Await foreign code; what would end the loop comes out as a ``ForeignError``."""
    try:
        return await awaitable
    except (SystemExit, KeyboardInterrupt) as error:
        if is_interrupt(error):
            raise
        raise tamed(error) from None
