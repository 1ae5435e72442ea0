"""Writes addresses, hashes, amounts, ages and states as HTML for pages; the text of them comes from `wording.formats`.

Values may come from a chain or an agent, so nothing is marked safe that was not escaped here.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString

from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core import clock
from tools_app.wording.formats import format_age, group_digits, shorten_amount, shorten_hex

NOTHING: Final = SafeString("–")
QUOTED: Final = "What is quoted in it may be the words of an agent or a model"

# What a status means at a glance: good, busy, warn, bad, quiet. Shared by permits, transactions, spends and grants.
TONES: Final = {
    "CREATED": "info",
    "AWAITING_APPROVAL": "warn",
    "ANNOUNCED": "warn",
    "COMMITTING": "busy",
    "COMMITTED": "good",
    "REVERTED": "bad",
    "UNKNOWN": "warn",
    "EXPIRED": "quiet",
    "CANCELLED": "quiet",
    "BLOCKED": "bad",
    "EXECUTED": "good",
    "REHEARSED": "info",
    "WAITING": "warn",
    "DEFERRED": "warn",
    "RESERVED": "busy",
    "SETTLED": "good",
    "RELEASED": "quiet",
    "REVERSED": "warn",
    "SIGNED": "busy",
    "BROADCAST": "busy",
    "MINED": "good",
    "DROPPED": "quiet",
    "ABANDONED": "quiet",
    "THRIVING": "good",
    "CAUTIOUS": "info",
    "DEFENSIVE": "warn",
    "SURVIVAL": "bad",
    "TERMINAL": "bad",
    "ROUTINE": "good",
    "STANDARD": "info",
    "ELEVATED": "warn",
    "HIGH": "bad",
    "CRITICAL": "bad",
}


def show_hex(text: str, *, name: str = "", url: str = "") -> SafeString:
    """An address or hash in short form with its full value on hover, a copy button, and a link when there is one."""
    if not text:
        return NOTHING
    label = format_html('<span class="gx-name">{}</span> ', name) if name else ""
    inner = format_html("<code>{}</code>", shorten_hex(text))
    if url:
        inner = format_html('<a href="{}" rel="noreferrer noopener" target="_blank">{}</a>', url, inner)
    return format_html(
        '<span class="gx-hex" title="{}">{}{}<button type="button" class="gx-copy" data-copy="{}" '
        'aria-label="Copy {}"></button></span>',
        text,
        label,
        inner,
        text,
        shorten_hex(text),
    )


def show_transaction(tx_hash: str, chain_id: int) -> SafeString:
    """A transaction hash, linked to the chain's explorer where the chain has one."""
    network = KNOWN_NETWORKS.get(chain_id)
    url = network.explorer_tx_url.format(tx_hash=tx_hash) if network and network.explorer_tx_url and tx_hash else ""
    return show_hex(tx_hash, url=url)


def show_badge(text: str, tone: str = "") -> SafeString:
    """A coloured label; the colour repeats the word, it never replaces it."""
    chosen = tone or TONES.get(text.upper(), "quiet")
    return format_html('<span class="gx-badge gx-{}">{}</span>', chosen, text.replace("_", " ").lower())


def show_unchecked(text: str | SafeString, *, of: str = "") -> SafeString:
    """Words of an agent or a model with the mark that nobody has checked them; `of` says whose, where not sure."""
    if not text:
        return NOTHING
    return format_html("{} {}", text, mark_unchecked(of=of))


def mark_unchecked(*, of: str = "") -> SafeString:
    """The mark alone, the same as on every page."""
    return render_to_string("admin/golem/_unchecked.html", {"of": of})


def show_age(when: datetime | None, *, now: datetime | None = None) -> SafeString:
    """An age with the exact time on hover. `data-age` is its seconds, from which the page's script goes on counting."""
    if when is None:
        return NOTHING
    moment = now or clock.now()
    exact = when.strftime("%Y-%m-%d %H:%M:%S UTC")
    age, seconds = format_age(when, now=moment), int((moment - when).total_seconds())
    return format_html('<time datetime="{}" title="{}" data-age="{}">{}</time>', when.isoformat(), exact, seconds, age)


def show_amount(text: str) -> SafeString:
    """An amount in units, short to the eye, exact on hover and to a copy."""
    short = group_digits(shorten_amount(text))
    if short == text:
        return format_html("{}", text)
    return format_html('<span title="{}">{}</span>', text, short)
