"""What a tool raises when it cannot do what was asked.

The loop turns any exception of a tool into ``tool_failed``. These carry ``is_tool_error``: their
message is already written for the model, so it is passed on without the exception's type name.
"""

from __future__ import annotations


class ToolError(Exception):
    """The tool failed; the message tells the model why and what would work instead."""

    is_tool_error = True


class WorkspaceError(ToolError, ValueError):
    """A path that may not be used: outside the workspace, or no plain file or folder."""


class MissingFolder(WorkspaceError):
    """A folder on the way does not exist; ``path`` is where the whole path would lead."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.path = path
