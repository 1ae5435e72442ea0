"""Short, honest forms of addresses, hashes, amounts and times for pages; every raw integer has its unit beside it.

Each `show_*` returns escaped HTML; each `format_*` returns plain text. Values may come from a chain or an agent, so
nothing is marked safe that was not escaped here.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal, localcontext
from typing import Final

from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString

from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core import clock
from tools_app.core.units import format_micro_usd, format_units

NOTHING: Final = SafeString("–")
QUOTED: Final = "What is quoted in it may be the words of an agent or a model"
_WEI_PER_GWEI: Final = 10**9
_STEPS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))

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


def shorten_hex(text: str, *, head: int = 6, tail: int = 4) -> str:
    """`0x1234…cdef`; shorter text is left as it is."""
    return text if len(text) <= head + tail + 1 else f"{text[:head]}…{text[-tail:]}"


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


def format_chain(chain_id: int) -> str:
    """`Local chain (31337)`."""
    network = KNOWN_NETWORKS.get(chain_id)
    return f"{network.name} ({chain_id})" if network else f"Chain {chain_id}"


def native_symbol(chain_id: int) -> str:
    """The chain's own coin, `ETH` when the chain is not known."""
    network = KNOWN_NETWORKS.get(chain_id)
    return network.native_symbol if network else "ETH"


def format_seconds(seconds: float) -> str:
    """`42 s`, `3 min`, `5 h`, `2 d`: the largest whole unit."""
    whole = int(abs(seconds))
    for size, unit in _STEPS:
        if whole >= size:
            return f"{whole // size} {unit}"
    return "0 s"


def format_age(when: datetime | None, *, now: datetime | None = None) -> str:
    """`12 s ago` or `in 42 s`."""
    if when is None:
        return "–"
    seconds = ((now or clock.now()) - when).total_seconds()
    return f"{format_seconds(seconds)} ago" if seconds >= 0 else f"in {format_seconds(seconds)}"


def show_age(when: datetime | None, *, now: datetime | None = None) -> SafeString:
    """An age with the exact time on hover. `data-age` is its seconds, from which the page's script goes on counting."""
    if when is None:
        return NOTHING
    moment = now or clock.now()
    exact = when.strftime("%Y-%m-%d %H:%M:%S UTC")
    age, seconds = format_age(when, now=moment), int((moment - when).total_seconds())
    return format_html('<time datetime="{}" title="{}" data-age="{}">{}</time>', when.isoformat(), exact, seconds, age)


def format_usd(micro: int | None) -> str:
    """Dollars of micro-USD, `–` when there is none."""
    return "–" if micro is None else format_micro_usd(int(micro))


def shorten_amount(text: str, *, digits: int = 6) -> str:
    """`0.166582930146804025 WETH` -> `0.166583 WETH`: rounded to `digits` places after the first figure that counts."""
    number, _, symbol = text.partition(" ")
    value = Decimal(number)
    if value == 0 or len(number) <= digits + 4:
        return text
    places = max(0, digits - 1 - value.adjusted()) if value.adjusted() < 0 else max(2, digits - 1 - value.adjusted())
    short = f"{value:{'+' if number.startswith('+') else ''},.{places}f}"
    if "." in short:
        short = short.rstrip("0").rstrip(".")
    return f"{short} {symbol}" if symbol else short


def group_digits(text: str) -> str:
    """`19500 USDC` -> `19,500 USDC`; the digits after the point stay as they are."""
    number, space, symbol = text.partition(" ")
    whole, point, fraction = number.partition(".")
    sign = whole[:1] if whole[:1] in "+-" else ""
    digits = whole.removeprefix(sign)
    return f"{sign}{int(digits):,}{point}{fraction}{space}{symbol}" if digits.isdigit() else text


def show_amount(text: str) -> SafeString:
    """An amount in units, short to the eye, exact on hover and to a copy."""
    short = group_digits(shorten_amount(text))
    if short == text:
        return format_html("{}", text)
    return format_html('<span title="{}">{}</span>', text, short)


def format_gwei(wei: int | str) -> str:
    """`1000000007` wei -> `1.000000007 gwei`."""
    return f"{(Decimal(int(wei)) / _WEI_PER_GWEI).normalize():f} gwei"


def format_gas(gas: int | str | None) -> str:
    """`184,213 gas`."""
    return "–" if gas is None else f"{int(gas):,} gas"


def format_coin(wei: int | str, chain_id: int) -> str:
    """Wei in the chain's own coin."""
    return format_units(int(wei), 18, native_symbol(chain_id))


def format_bps(bps: int) -> str:
    """`250` -> `2.50%`."""
    return f"{Decimal(bps) / 100:.2f}%"


def format_ticks(ticks: int) -> str:
    """`500` -> `500 ticks (5.13%)`: from the lower price of a range to the upper one."""
    with localcontext(prec=12, Emax=999_999):
        return f"{ticks:,} ticks ({(Decimal('1.0001') ** ticks - 1) * 100:.2f}%)"


def format_millionths(share: int) -> str:
    """`979983` -> `97.9983%`."""
    return f"{Decimal(share) / 10_000:.4f}%"
