"""Lists what others may still take of a golem by its signed promises, a line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString

from archetypes_app.models import Golem
from permits_app.limits.signed_promises import list_open
from permits_app.models import SignedPromise
from permits_app.permits.kept_bounds import read_bounds
from tools_app.core.stored_json import IntText, read_stored
from tools_app.pages.html import NOTHING, show_age
from tools_app.toolkit.protocol import SHELF
from tools_app.wording.address_names import find_token, format_token_amount
from tools_app.wording.formats import format_age, group_digits, shorten_amount

MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class PromiseLine:
    """One signed promise that is open. `problem` is what the last look ran into."""

    row: SignedPromise
    where: str
    gives: str
    gets: str
    until: str
    until_exact: str
    looked: SafeString
    problem: str


def list_promise_lines(golem: Golem, *, now: datetime) -> tuple[PromiseLine, ...]:
    """Those that somebody may carry out any moment, the oldest first."""
    rows = list_open(golem.pk).select_related("permit")
    return tuple(_describe(row, now) for row in rows[:MOST_SHOWN])


def say_given(row: SignedPromise) -> str:
    """What may go: tokens of the wallet as they are, what is taken out of a position at what it counts as, and what of
    somebody else's.
    """
    bounds = read_bounds(row.permit.bounds)
    kept = len(bounds.spends)
    taken = [{**each, "is_position": _is_counted(row.chain_id, each)} for each in row.gives[kept:]]
    own = say_amounts(row.chain_id, [*row.gives[:kept], *taken])
    others = (
        f"{format_token_amount(row.chain_id, flow.token.address, flow.most)} of {flow.principal}"
        for flow in bounds.principals
    )
    return ", ".join(filter(None, (own, *others)))


@dataclass(frozen=True, slots=True)
class ToldAmount:
    """Base units of a token address; `is_position` where the token stands for a position."""

    token: str
    raw: IntText
    is_position: bool = False


def say_amounts(chain_id: int, amounts: Sequence[Mapping[str, object]]) -> str:
    """`100 DAI, 1.5 ETH`; base units of a token that nobody registered, by what its protocol calls it; of a position
    what it counts as.
    """
    return ", ".join(_say_amount(chain_id, read_stored(ToldAmount, each)) for each in amounts)


def _say_amount(chain_id: int, amount: ToldAmount) -> str:
    if (label := _find_label(chain_id, amount.token)) is not None:
        return f"{amount.raw:,} base units of {label}"
    told = format_token_amount(chain_id, amount.token, amount.raw)
    said = told if find_token(chain_id, amount.token) is None else group_digits(shorten_amount(told))
    return f"a position that counts as {said}" if amount.is_position else said


def _is_counted(chain_id: int, amount: Mapping[str, object]) -> bool:
    return _find_label(chain_id, read_stored(ToldAmount, amount).token) is None


def _find_label(chain_id: int, token: str) -> str | None:
    """What a protocol calls a token of its own that stands for a position, None for any other."""
    return next((each.label for at, each in SHELF.contracts_on(chain_id) if at == token and each.is_token), None)


def name_promised_at(row: SignedPromise) -> str:
    """The protocol's name for people."""
    return SHELF.label_on(row.protocol, row.chain_id)


def _describe(row: SignedPromise, now: datetime) -> PromiseLine:
    age = format_age(row.ends_at, now=now)
    return PromiseLine(
        row=row,
        where=name_promised_at(row),
        gives=say_given(row) or "nothing",
        gets=say_amounts(row.chain_id, row.gets) or "nothing",
        until=age if row.ends_at > now else f"over {age}, being looked at",
        until_exact=row.ends_at.strftime("%Y-%m-%d %H:%M UTC"),
        looked=show_age(row.checked_at, now=now) if row.checked_at else NOTHING,
        problem=row.last_error,
    )
