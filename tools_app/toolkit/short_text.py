"""The beginning of a text that stands for the whole where every word costs: its first sentence, cut at a word."""

from __future__ import annotations

import re
from typing import Final

_SENTENCE_END: Final = re.compile(r"(?<=[a-z0-9)%])[.;](?:\s|$)")


def shorten(text: str, most: int) -> str:
    """The first sentence of `text` without its full stop, at most `most` characters; what is cut ends with …"""
    flat = " ".join(text.split())
    first = _SENTENCE_END.split(flat, maxsplit=1)[0].rstrip(".")
    if len(first) <= most:
        return first
    return first[: most - 1].rsplit(" ", 1)[0].rstrip(" ,:;(") + "…"
