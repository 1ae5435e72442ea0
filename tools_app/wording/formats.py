"""Formats chains, times, dollars, coins, gas and shares as plain text; every raw integer has its unit beside it."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal, localcontext
from typing import Final

from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core import clock
from tools_app.core.units import format_micro_usd, format_units

_WEI_PER_GWEI: Final = 10**9
_STEPS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_SPANS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def shorten_hex(text: str, *, head: int = 6, tail: int = 4) -> str:
    """`0x1234…cdef`; shorter text is left as it is."""
    return text if len(text) <= head + tail + 1 else f"{text[:head]}…{text[-tail:]}"


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


def format_span(seconds: int) -> str:
    """`1 hour`, `1 minute 30 seconds`: whole, nothing rounded."""
    parts, left = [], abs(seconds)
    for size, unit in _SPANS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {unit}{'s' if count > 1 else ''}")
    return " ".join(parts) or "0 seconds"


def format_age(when: datetime | None, *, now: datetime | None = None) -> str:
    """`12 s ago` or `in 42 s`."""
    if when is None:
        return "–"
    seconds = ((now or clock.now()) - when).total_seconds()
    return f"{format_seconds(seconds)} ago" if seconds >= 0 else f"in {format_seconds(seconds)}"


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


def format_percent(bps: int) -> str:
    """`10000` -> `100%`, `250` -> `2.5%`: a limit as it is said."""
    return f"{Decimal(bps) / 100:,f}".rstrip("0").rstrip(".") + "%" if bps % 100 else f"{bps // 100:,}%"


def format_ticks(ticks: int) -> str:
    """`500` -> `500 ticks (5.13%)`: from the lower price of a range to the upper one."""
    with localcontext(prec=12, Emax=999_999):
        return f"{ticks:,} ticks ({(Decimal('1.0001') ** ticks - 1) * 100:.2f}%)"


def format_millionths(share: int) -> str:
    """`979983` -> `97.9983%`."""
    return f"{Decimal(share) / 10_000:.4f}%"
