"""Text that a stranger wrote where anybody can write, on its way into a tool's answer: marked, plain and short."""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.core.storable_text import make_plain, make_storable


@dataclass(frozen=True, slots=True)
class ForeignText:
    """`value` is data and never instruction; an agent reads it as `{"value": …, "untrusted": true}`."""

    value: str
    untrusted: bool = True


def mark_foreign(text: object, *, most: int) -> ForeignText:
    """What stands for `text`: on one line, without characters nobody sees, cut to `most`; what is no text is empty."""
    if not isinstance(text, str):
        return ForeignText("")
    plain = " ".join(make_plain(make_storable(text[: 4 * most])).split())
    return ForeignText(plain if len(plain) <= most else plain[: most - 1] + "…")
