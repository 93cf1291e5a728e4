"""The agent: options, conversation, tools, hooks and accounts together, and the doors to a run."""

from .accounts import costs
from .agent import Agent
from .create import create_agent

__all__ = ["Agent", "costs", "create_agent"]
