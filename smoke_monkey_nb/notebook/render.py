"""Safe HTML from text: the only place of the notebook layer that turns text into HTML.

Everything a model, a tool or a file name says is hostile, and script in a notebook page is code
execution in the kernel. So there are three ways in, and no other: ``escape`` for plain text,
``markdown`` for answers (raw HTML is text to the parser, and what the parser made passes an
allow-list), ``code`` and ``diff`` for things to read before they run. Colours are inline and of
middle lightness: they read on light and on dark grounds, and survive Jupyter's sanitiser, which
drops style sheets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape as _html_escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

#: Classes of highlighted code, each one letter: this is the bulk of what a page is sent.
#: ``inline_colors`` gives them colours that read on white and on black alike (about 4.2:1).
COLORS = {
    "k": "#9c5fd6",  # keyword
    "s": "#3f8a3f",  # string
    "c": "#7d7d7d",  # comment
    "n": "#b3661f",  # number
    "f": "#3b7fc4",  # name that is defined or built in
    "a": "#2f8a4c",  # added
    "r": "#d2453d",  # removed
}
#: Longer code is shown plain: highlighting it would cost more than it tells.
HIGHLIGHT_LIMIT = 20_000
#: More brackets than this in one block, and the parser turns quadratic: shown plain.
BRACKET_LIMIT = 2_000

#: Key in ``env``: the text is still growing, so code is not highlighted yet.
OPEN = "smn_open"

# fmt: off
_LANGUAGES = frozenset({
    "bash", "c", "c++", "cpp", "console", "css", "diff", "docker", "dockerfile", "go", "html",
    "ini", "java", "javascript", "js", "json", "julia", "jsx", "kotlin", "latex", "lua", "make",
    "markdown", "md", "php", "powershell", "python", "py", "python3", "pycon", "r", "ruby", "rust",
    "scala", "sh", "shell", "sql", "swift", "toml", "ts", "tsx", "typescript", "xml", "yaml", "yml",
})
_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i",
    "img", "li", "ol", "p", "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr",
    "ul",
}
# fmt: on
_ATTRIBUTES = {
    "a": {"href", "title", "target"},
    "img": {"src", "alt", "title"},
    "ol": {"start"},
    "td": {"style"},
    "th": {"style"},
}
_STYLES = {"text-align"}
_LINK = re.compile(r"(?:https?|mailto):", re.IGNORECASE)
_DATA_IMAGE = re.compile(
    r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+", re.IGNORECASE
)
_ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_PLAIN_IN_FILES = re.compile('<i class="[fn]">([^<]*)</i>')
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Math that Jupyter's MathJax may set later: left as it stands, else Markdown eats its backslashes
# and underscores.
_MATH = re.compile(
    r"\$\$.+?\$\$|\$(?![\s\d.,]*\s)[^\s$](?:[^$\n]*[^\s$\\])?\$(?!\d)|\\\(.+?\\\)|\\\[.+?\\\]",
    re.DOTALL,
)


def escape(text: Any) -> str:
    """Plain text as HTML, quotes included; characters that are no valid text become ``�``."""
    return _html_escape(_SURROGATE.sub("\ufffd", _CONTROL.sub("", str(text))), quote=True)


def visible(text: str) -> str:
    """The text with control, bidirectional and other unseen characters spelt out: ``⟦U+202E⟧``.

    For previews, file and tool names: what a person approves must look like what will run.
    """
    return _UNSEEN.sub(lambda m: f"⟦U+{ord(m[0]):04X}⟧", text.replace("\r\n", "\n"))


def plain(text: str) -> str:
    """Tool output without terminal codes and control characters."""
    text = _ANSI.sub("", text).replace("\r\n", "\n")
    return _SURROGATE.sub("\ufffd", _CONTROL.sub(_carriage_return, text))


def _carriage_return(match: re.Match[str]) -> str:
    return "\n" if match[0] == "\r" else ""


def markdown(text: str, env: dict[str, Any] | None = None) -> str:
    """Markdown as HTML from the allow-list: no raw HTML, no remote images, no ids, classes, forms
    or styles.

    ``env`` carries link definitions from one call to the next.
    """
    text = _SURROGATE.sub("\ufffd", _CONTROL.sub(_carriage_return, text))
    if text.count("[") > BRACKET_LIMIT:
        return f"<p>{escape(text)}</p>"
    try:
        html = parser().render(text, {} if env is None else env)
    except RecursionError:  # nesting deeper than any answer for people
        return f"<p>{escape(text)}</p>"
    return _sanitise(html).strip()


def code(text: str, language: str = "") -> str:
    """Code as HTML, highlighted (plain when long or of an unknown language)."""
    lexer = _lexer(language.lower()) if len(text) <= HIGHLIGHT_LIMIT else None
    if lexer is None:
        return escape(text)
    return "".join(_colored(color, part) for color, part in _merged(lexer.get_tokens(text)))


def diff(text: str) -> str:
    """A unified diff with coloured lines; the +/- signs stay, for those who see no colours."""
    return "".join(_diff_line(line) for line in text.splitlines(keepends=True))


def inline_colors(html: str) -> str:
    """The classes of highlighted code as inline colours, for where no style sheet goes.

    No text can look like these tags: in text, ``<`` is always escaped. Numbers and names go plain:
    the notebook file keeps this, and every span counts.
    """
    html = _PLAIN_IN_FILES.sub(r"\1", html)
    for letter, color in COLORS.items():
        html = html.replace(f'<i class="{letter}">', f'<span style="color:{color}">')
    return html.replace("</i>", "</span>")


def image(media_type: str, data: str, alt: str) -> str | None:
    """An ``<img>`` from base64 data, or ``None`` for anything but PNG, JPEG, GIF and WebP."""
    url = f"data:{media_type};base64,{''.join(data.split())}"
    if not _DATA_IMAGE.fullmatch(url):
        return None
    return f'<img src="{url}" alt="{escape(alt)}" style="max-width:100%">'


@lru_cache(maxsize=1)
def parser() -> MarkdownIt:
    """The one Markdown parser (imported at first use)."""
    from markdown_it import MarkdownIt

    md = MarkdownIt("js-default", {"html": False, "linkify": False, "typographer": False})
    md.inline.ruler.before("escape", "math", _math_rule)
    md.add_render_rule("fence", _render_fence)
    md.add_render_rule("code_block", _render_fence)
    md.add_render_rule("image", _render_image)
    md.add_render_rule("code_inline", _render_code_inline)
    return md


def _math_rule(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "$\\":
        return False
    match = _MATH.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        state.push("text", "", 0).content = match[0]
    state.pos = match.end()
    return True


def _render_image(self: Any, tokens: Sequence[Any], at: int, options: Any, env: Any) -> str:
    source, alt = str(tokens[at].attrGet("src") or ""), escape(tokens[at].content or "image")
    if _DATA_IMAGE.fullmatch(source):
        return f'<img src="{escape(source)}" alt="{alt}">'
    # A remote image would tell its server who reads this, and can carry data out in its address.
    if _LINK.match(source):
        return f'<a href="{escape(source)}" target="_blank">{alt}</a>'
    return alt


def _render_fence(self: Any, tokens: Sequence[Any], at: int, options: Any, env: Any) -> str:
    text, words = visible(tokens[at].content), str(tokens[at].info or "").split()
    inner = escape(text) if OPEN in env else code(text, words[0] if words else "")
    return f"<pre><code>{inner}</code></pre>\n"


def _render_code_inline(self: Any, tokens: Sequence[Any], at: int, options: Any, env: Any) -> str:
    return f"<code>{escape(visible(tokens[at].content))}</code>"


def _sanitise(html: str) -> str:
    import nh3

    return str(
        nh3.clean(
            html,
            tags=_TAGS,
            attributes=_ATTRIBUTES,
            attribute_filter=_filter_attribute,
            allowed_classes={"i": set(COLORS)},
            filter_style_properties=_STYLES,
            url_schemes={"http", "https", "mailto", "data"},
            link_rel="noopener noreferrer nofollow",
            strip_comments=True,
        )
    )


def _filter_attribute(tag: str, name: str, value: str) -> str | None:
    if name == "href":
        return value if _LINK.match(value) else None
    if name == "src":
        return value if _DATA_IMAGE.fullmatch(value) else None
    if name == "target":
        return "_blank"
    return value


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    # Only well-known languages: an unknown name makes pygments scan every installed package.
    if language not in _LANGUAGES:
        return None
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _merged(tokens: Any) -> list[tuple[str, str]]:
    """Neighbours of one colour joined; blanks take the colour of what stands before them."""
    out: list[tuple[str, str]] = []
    for kind, part in tokens:
        color = _color(str(kind))
        if out and (color == out[-1][0] or part.isspace()):
            out[-1] = (out[-1][0], out[-1][1] + part)
        else:
            out.append((color, part))
    return out


@lru_cache(maxsize=256)
def _color(kind: str) -> str:
    for prefix, color in _KINDS:
        if kind.startswith(prefix):
            return color
    return ""


_KINDS = (
    ("Token.Comment", "c"),
    ("Token.Keyword", "k"),
    ("Token.Operator.Word", "k"),
    ("Token.Name.Tag", "k"),
    ("Token.Literal.String", "s"),
    ("Token.Literal.Number", "n"),
    ("Token.Name.Function", "f"),
    ("Token.Name.Class", "f"),
    ("Token.Name.Builtin", "f"),
    ("Token.Name.Decorator", "f"),
    ("Token.Generic.Inserted", "a"),
    ("Token.Generic.Deleted", "r"),
)


def _colored(color: str, text: str) -> str:
    return f'<i class="{color}">{escape(text)}</i>' if color else escape(text)


def _diff_line(line: str) -> str:
    if line.startswith(("+++", "---", "@@")):
        return _colored("c", line)
    return _colored({"+": "a", "-": "r"}.get(line[:1], ""), line)
