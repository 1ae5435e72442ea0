"""Turns a guide of `docs/` into HTML: headings and bold beginnings get anchors, links lead to other guides.

markdown-it writes it without raw HTML, so a document brings text and nothing that runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from golem_project.settings.environment import BASE_DIR

if TYPE_CHECKING:
    from markdown_it.token import Token

DOCS: Final = BASE_DIR / "docs"
_NAME: Final = re.compile(r"(?:[a-z0-9-]+/)?(?:[a-z0-9-]+|README)")

Address = Callable[[str], str]
"""Gives the address of a guide's page from the guide's name."""


@dataclass(frozen=True, slots=True)
class Guide:
    """One guide: its title, its HTML, and the anchors in it."""

    name: str
    title: str
    html: SafeString
    anchors: frozenset[str]


def list_documents() -> list[str]:
    """The names of all guides, decisions and pages of history."""
    paths = (path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md"))
    return sorted(name for name in paths if _NAME.fullmatch(name))


@cache
def read_document(name: str) -> Guide | None:
    """The guide `how-to/approve-a-change` or `concepts` for pages of the admin; None where there is none."""
    return render_document(name, find_address=lambda target: reverse("help", args=[target]))


def render_document(name: str, *, find_address: Address, keeps_pictures: bool = False) -> Guide | None:
    """The guide with links written by `find_address`; None when there is none of that name."""
    path = DOCS / f"{name}.md"
    if not _NAME.fullmatch(name) or not path.is_file():
        return None
    # Here, because few processes ever show a guide and each would load it.
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(path.read_text(encoding="utf-8"))
    anchors = _give_anchors(tokens)
    for token in tokens:
        for child in token.children or ():
            if child.type == "image" and not keeps_pictures:
                child.type, child.tag, child.children = "text", "", []
            elif child.type == "link_open":
                _lead(child, name, find_address)
    title = next((token.content for before, token in _pairs(tokens) if before.tag == "h1"), name)
    # The parser escapes every text and takes no HTML: what it returns is markup of its own.
    html = mark_safe(parser.renderer.render(tokens, parser.options, {}))  # noqa: S308
    return Guide(name, title, html, frozenset(anchors))


def make_anchor(words: str) -> str:
    """`A change of the contract` -> `a-change-of-the-contract`."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")


def _pairs(tokens: Sequence[Token]) -> list[tuple[Token, Token]]:
    return list(zip(tokens, tokens[1:], strict=False))


def _give_anchors(tokens: Sequence[Token]) -> list[str]:
    """Write `id` onto headings, and onto paragraphs and points that begin in bold; the ids."""
    given: list[str] = []
    for opening, inline in _pairs(tokens):
        if opening.type == "heading_open":
            words = inline.content
        elif opening.type == "paragraph_open" and inline.children and _begins_bold(inline.children):
            words = _read_bold(inline.children)
        else:
            continue
        anchor = make_anchor(words)
        if anchor and anchor not in given:
            given.append(anchor)
            opening.attrSet("id", anchor)
            opening.hidden = False
    return given


def _begins_bold(children: Sequence[Token]) -> bool:
    first = next((child for child in children if child.type != "text" or child.content), None)
    return first is not None and first.type == "strong_open"


def _read_bold(children: Sequence[Token]) -> str:
    words = []
    for child in children:
        if child.type == "strong_close":
            break
        words.append(child.content)
    return " ".join(words)


def _lead(link: Token, name: str, find_address: Address) -> None:
    """A link to a guide leads to its page; one to another file of the repository keeps its words alone."""
    href = str(link.attrGet("href") or "")
    if "://" in href:
        return
    file, _, anchor = href.partition("#")
    target = _join(PurePosixPath(name).parent, file) if file else name
    if target is not None and (DOCS / f"{target}.md").is_file():
        page = find_address(target)
        link.attrSet("href", f"{page}#{anchor}" if anchor else page)
    else:
        link.attrs.pop("href", None)


def _join(folder: PurePosixPath, file: str) -> str | None:
    parts: list[str] = []
    for part in (*folder.parts, *PurePosixPath(file).parts):
        if part == ".." and not parts:
            return None
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    path = "/".join(parts)
    return path.removesuffix(".md") if path.endswith(".md") and _NAME.fullmatch(path[:-3]) else None
