"""Splits a shell command line into words as bash does, and says what it cannot see through.

One pass over the characters, because quotes decide what a character means and quotes nest: a quote
inside the other kind is a letter, ``$`` acts inside double quotes, and a backslash makes the next
character plain. Text patterns get that wrong, and a wrong answer here runs a command unasked.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_OPERATORS = "();<>|&\n"
_SEPARATORS = frozenset({";", "&&", "||", "|", "&", "|&", "\n"})


@dataclass
class Line:
    """The simple commands of a line, quotes resolved; ``substituted`` holds the texts inside
    ``$(…)``, backquotes and ``<(…)``. ``opaque``: something in it is more than words and
    separators.
    """

    commands: list[tuple[str, ...]] = field(default_factory=list)
    substituted: list[str] = field(default_factory=list)
    opaque: bool = False


def split(command: str) -> Line:
    """Split a command line; an open quote or parenthesis makes it opaque, never an error."""
    return _Splitter(command).run()


class _Splitter:
    def __init__(self, text: str) -> None:
        self._text = text.replace("\\\n", "")  # bash joins such lines first; in '…' it is opaque
        self._at = 0
        self._line = Line(opaque="\\\n" in text or "\x00" in text or "\r" in text)
        self._words: list[str] = []
        self._word: list[str] | None = None  # None: between words

    def run(self) -> Line:
        while self._at < len(self._text):
            self._step(self._text[self._at])
        self._end_command()
        return self._line

    def _step(self, char: str) -> None:
        if char in " \t":
            self._at += 1
            self._end_word()
        elif char in _OPERATORS:
            self._operator()
        elif char == "'":
            self._single()
        elif char == '"':
            self._double()
        elif char == "\\":
            self._add(self._text[self._at + 1 : self._at + 2])
            self._at += 2
        elif char in "$`":
            self._substitution()
        else:
            # A comment swallows what follows, or, at a prompt, does not: not for us to say.
            self._line.opaque |= char == "#" and self._word is None
            self._add(char)
            self._at += 1

    def _add(self, text: str) -> None:
        self._word = self._word if self._word is not None else []
        self._word.append(text)

    def _end_word(self) -> None:
        if self._word is not None:
            self._words.append("".join(self._word))
            self._word = None

    def _end_command(self) -> None:
        self._end_word()
        if self._words:
            self._line.commands.append(tuple(self._words))
        self._words = []

    def _operator(self) -> None:
        start = self._at
        while self._text[self._at : self._at + 1] and self._text[self._at] in _OPERATORS:
            self._at += 1
        operator = self._text[start : self._at]
        if operator not in _SEPARATORS or operator == "\n":
            self._line.opaque = True
        if set(operator) <= {"<", ">", "&"} and operator not in _SEPARATORS:
            self._end_word()  # a redirection: its target is no new command
        else:
            self._end_command()

    def _single(self) -> None:
        end = self._text.find("'", self._at + 1)
        if end < 0:
            self._line.opaque = True
            end = len(self._text)
        quoted = self._text[self._at + 1 : end]
        self._line.opaque |= "\n" in quoted
        self._add(quoted)
        self._at = end + 1

    def _double(self) -> None:
        self._add("")
        self._at += 1
        while self._at < len(self._text):
            char = self._text[self._at]
            if char == '"':
                self._at += 1
                return
            if char in "$`":
                self._substitution()
                continue
            if char == "\\" and self._text[self._at + 1 : self._at + 2] in ("$", "`", '"', "\\"):
                self._at += 1
                char = self._text[self._at]
            self._line.opaque |= char == "\n"
            self._add(char)
            self._at += 1
        self._line.opaque = True

    def _substitution(self) -> None:
        """``$`` or a backquote: opaque, whatever it is. Its text is kept for denials."""
        self._line.opaque = True
        char = self._text[self._at]
        if char == "`":
            end = self._text.find("`", self._at + 1)
            end = len(self._text) if end < 0 else end
            self._line.substituted.append(self._text[self._at + 1 : end])
        elif self._text.startswith("$(", self._at):
            end = self._closing(self._at + 1)
            self._line.substituted.append(self._text[self._at + 2 : end])
        else:
            end = self._at
        self._add(self._text[self._at : end + 1])
        self._at = end + 1

    def _closing(self, start: int) -> int:
        depth = 0
        for at in range(start, len(self._text)):
            depth += {"(": 1, ")": -1}.get(self._text[at], 0)
            if depth == 0:
                return at
        return len(self._text)
