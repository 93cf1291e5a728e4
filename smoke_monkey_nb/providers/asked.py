"""Who was asked for what: the words for messages and hints about a provider."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Asked:
    """A provider and a model; ``title`` stands inside a sentence. Holds no key."""

    provider: str = "provider"
    model: str = ""
    key_variable: str | None = None
    base_url: str | None = field(default=None, repr=False)  # may hold a password
    title: str = "the provider"

    @property
    def subject(self) -> str:
        """``title`` at the beginning of a sentence."""
        return "The" + self.title[3:] if self.title.startswith("the ") else self.title


UNKNOWN = Asked()
