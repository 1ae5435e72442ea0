"""Lists what others let a golem move of their money, a line each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString

from archetypes_app.models import Golem
from permits_app.limits.received_rights import list_standing, sum_all
from permits_app.models import ReceivedRight
from tools_app.pages.html import show_age
from tools_app.toolkit.protocol import SHELF
from tools_app.wording.address_names import format_token_amount
from tools_app.wording.formats import format_age, format_seconds

MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class RightLine:
    """One right that stands as far as was seen. `used` is of the present period, open permits included; `left` is the
    least of what the book and its contract have left. `problem` is what the last look ran into.
    """

    row: ReceivedRight
    where: str
    principal: str
    most: str
    used: str
    left: str
    looked: SafeString | str
    problem: str
    until: str
    until_exact: str


def list_right_lines(golem: Golem, *, now: datetime) -> tuple[RightLine, ...]:
    """Those that stand, the one that ends first before the others."""
    rows = list(list_standing(golem.pk)[:MOST_SHOWN])
    used = sum_all(rows, now=now)
    return tuple(_describe(row, used[row.pk], now) for row in rows)


def say_most(row: ReceivedRight) -> str:
    """`100 USDC in each 1 d`, or `100 USDC in all`."""
    amount = format_token_amount(row.chain_id, row.token, int(row.most))
    return f"{amount} in each {format_seconds(row.period_seconds)}" if row.period_seconds else f"{amount} in all"


def say_left(row: ReceivedRight, *, now: datetime) -> str:
    """What may still be moved in the present period: `40 USDC`."""
    return format_token_amount(row.chain_id, row.token, _find_left(row, sum_all([row], now=now)[row.pk]))


def _find_left(row: ReceivedRight, used: int) -> int:
    left = max(0, int(row.most) - used)
    return left if row.available is None else min(left, int(row.available))


def _describe(row: ReceivedRight, used: int, now: datetime) -> RightLine:
    age = format_age(row.ends_at, now=now)
    return RightLine(
        row=row,
        where=SHELF.label_on(row.protocol, row.chain_id),
        principal=row.principal,
        most=say_most(row),
        used=format_token_amount(row.chain_id, row.token, used),
        left=format_token_amount(row.chain_id, row.token, _find_left(row, used)),
        looked=show_age(row.looked_at, now=now) if row.looked_at else "not looked at yet",
        problem=row.last_error,
        until=age if row.ends_at > now else f"over {age}",
        until_exact=row.ends_at.strftime("%Y-%m-%d %H:%M UTC"),
    )
