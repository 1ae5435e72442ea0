"""Under a halt, when its owner chose to leave everything: what is in the wallet is exchanged for the base asset.

It comes after the ways out of positions. One token after another, those worth most first, each by the way that brings
most among those a halt may sign, whole or where that would lose too much in parts. What is lost against the price
feeds, fees and slippage included, is bounded by the owner. What a debt that is still open asks for stays, and so do the
chain's coin, for gas, and what nobody prices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from archetypes_app.models import Golem
from permits_app.execution.halt_debt_sales import SLIPPAGE_BPS, find_best_sale
from permits_app.execution.halt_permits import TOOL_NAME, HaltPlan, execute_halt_plan
from permits_app.execution.halt_plan_check import may_sign
from permits_app.execution.position_unwinding import MOST_ATTEMPTS, OWNER_NEEDED, check_halt_plan, open_chain
from permits_app.halts.halt_choices import EXCHANGE_ACTION, find_exchange
from permits_app.models import ActionPermit
from permits_app.models.permit import PermitStatus
from permits_app.permits.other_chain_holdings import name_chain
from tools_app.core.errors import GolemError
from tools_app.core.json_types import JsonObject
from tools_app.core.units import BPS, format_units
from tools_app.portfolio.holdings import NO_FEED, Holdings, Worth, measure_holdings
from tools_app.portfolio.remembered_positions import list_hints
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.golem_chains import list_chains
from tools_app.toolkit.plan import TxPlan
from tools_app.toolkit.views import TokenMeta

STAYS: Final = "stays"
WAITS: Final = "waits"
LEAST_MICRO_USD: Final = 1_000_000
"""What is worth less stays: a sale would cost about as much in gas."""
PARTS: Final = (1, 2, 4, 8)
"""A token is sold whole, or by so small a part of it."""
MOST_SALES: Final = 16
"""So many sales on one chain are made in one go; the next look goes on."""


def exchange_holdings(*, golem: Golem, epoch: int, actor: str, now: datetime) -> tuple[list[dict[str, object]], bool]:
    """Exchange what is in the wallet on every chain; what came of each token, and whether nothing is left to do.

    The owner's choice is read before each sale: one who takes it back has the next one not made. A chain that cannot
    be read keeps no other from it, and is tried again. Raises the node's errors where there is but one chain.
    """
    lines, is_over, chains = [], True, list_chains(golem)
    for chain_id in chains:
        try:
            told, is_done = _exchange_on(chain_id, golem, epoch, actor, now)
        except GolemError as error:
            if len(chains) == 1:
                raise
            told, is_done = [{"label": name_chain(chain_id), "failed": error.code, "outcome": error.detail}], False
        lines += told
        is_over = is_over and is_done
    return lines, is_over


def list_exchanges(*, golem: Golem, now: datetime) -> list[dict[str, object]]:
    """What would be exchanged of what is in the wallet now, and what would stay. Raises the node's errors."""
    lines = []
    for chain_id in list_chains(golem):
        chain = open_chain(chain_id, now)
        base, held = _find_base(golem, chain), _read_held(golem, chain)
        for each in _rank(held, base):
            stays = _say_why_it_stays(each, base, held)
            lines.append({**_describe(each), **({"outcome": STAYS, "reason": stays} if stays else {})})
    return lines


def _exchange_on(
    chain_id: int, golem: Golem, epoch: int, actor: str, now: datetime
) -> tuple[list[dict[str, object]], bool]:
    told: dict[str, dict[str, object]] = {}
    settled: dict[str, bool] = {}
    for _ in range(MOST_SALES):
        setting = find_exchange(golem)
        if setting is None:
            return [*told.values(), {"label": name_chain(chain_id), "outcome": "its owner stopped this"}], True
        # A reader of its own: the block moved with the sale before.
        chain = open_chain(chain_id, now)
        base, held = _find_base(golem, chain), _read_held(golem, chain)
        worth = next((each for each in _rank(held, base) if each.token.address not in settled), None)
        if worth is None:
            return list(told.values()), all(settled.values())
        address = worth.token.address
        line, is_over = _leave(golem, epoch, worth, base, held, setting.most_loss_bps, chain, actor, now)
        told[address] = {**told.get(address, {}), **_describe(worth), **line}
        if is_over is not None:
            settled[address] = is_over
    return list(told.values()), False


def _leave(
    golem: Golem,
    epoch: int,
    worth: Worth,
    base: TokenMeta | None,
    held: Holdings,
    most_loss_bps: int,
    chain: ChainReader,
    actor: str,
    now: datetime,
) -> tuple[JsonObject, bool | None]:
    """The line to tell of one token, and whether that is the end of it; None where the rest is looked at again."""
    stays = _say_why_it_stays(worth, base, held)
    if stays or base is None:
        return {"outcome": STAYS, "reason": stays}, True
    if worth.problem:
        return {"outcome": WAITS, "reason": f"its price cannot be used now ({worth.problem})"}, False
    tried = _count_attempts(golem, epoch, worth.token)
    if tried >= MOST_ATTEMPTS:
        return {"outcome": f"left as it is: {tried} attempts reverted"}, True
    try:
        sale = _choose_sale(golem, worth, base, most_loss_bps, chain, now)
        if isinstance(sale, _TooDear):
            return {"outcome": sale.outcome, "reason": sale.say(most_loss_bps)}, sale.outcome != WAITS
        permit = _sell(golem, epoch, worth.token, base, sale, chain, actor, now)
    except GolemError as error:
        return {"failed": error.code, "outcome": error.detail}, False
    brought = sale.plan.receives[0].expected
    done = {
        "permit_id": str(permit.pk),
        "tx_hashes": list(permit.transactions.order_by("call_index").values_list("tx_hash", flat=True)),
        "outcome": str(permit.status),
        "reason": f"exchanged for about {format_units(brought, base.decimals, base.symbol)}",
    }
    return done, None if permit.status == PermitStatus.COMMITTED else False


@dataclass(frozen=True, slots=True)
class _Sale:
    """A plan that loses no more than it may, and its tool."""

    plan: TxPlan
    tool: str


@dataclass(frozen=True, slots=True)
class _TooDear:
    """No way out within the owner's bound: the least that was lost, or None where there is no way at all."""

    loss_bps: int | None

    @property
    def outcome(self) -> str:
        return OWNER_NEEDED if self.loss_bps is None else WAITS

    def say(self, most_loss_bps: int) -> str:
        if self.loss_bps is None:
            return "no way that a halt may sign leads to the base asset"
        return (
            f"{self.loss_bps / 100:.2f}% would be lost against the price feeds, and its owner allows"
            f" {most_loss_bps / 100:.2f}%; it is tried again"
        )


def _choose_sale(
    golem: Golem, worth: Worth, base: TokenMeta, most_loss_bps: int, chain: ChainReader, now: datetime
) -> _Sale | _TooDear:
    """The largest part that is sold within the bound. Raises the node's errors, PriceStale, PriceUnavailable."""
    price = chain.price(base)
    least: int | None = None
    for part in PARTS:
        amount = worth.raw // part
        value = Worth(worth.token, amount, worth.price).micro_usd
        if not value:
            break
        found = find_best_sale(
            golem=golem,
            token=worth.token.address,
            wanted=base.address,
            amount=amount,
            slippage_bps=min(SLIPPAGE_BPS, most_loss_bps),
            chain=chain,
            now=now,
            may_sign=partial(may_sign, golem),
        )
        if found is None:
            continue
        brought = Worth(base, found[0].receives[0].bound, price).micro_usd or 0
        # Rounded against the sale.
        loss = max(0, -(-(value - brought) * BPS // value))
        if loss <= most_loss_bps:
            return _Sale(*found)
        least = loss if least is None else min(least, loss)
    return _TooDear(least)


def _sell(
    golem: Golem,
    epoch: int,
    token: TokenMeta,
    base: TokenMeta,
    sale: _Sale,
    chain: ChainReader,
    actor: str,
    now: datetime,
) -> ActionPermit:
    check: Callable[..., None] = lambda simulation, calls: check_halt_plan(sale.plan, simulation, calls, chain)  # noqa: E731
    wanted = HaltPlan(
        plan=sale.plan,
        action_type=EXCHANGE_ACTION,
        params={"token": token.address, "tool": sale.tool},
        event="HaltExchangeStarted",
        facts={"token": token.symbol, "for": base.symbol, "tool": sale.tool},
        check=check,
    )
    return execute_halt_plan(golem=golem, epoch=epoch, chain=chain, wanted=wanted, actor=actor, now=now)


def _say_why_it_stays(worth: Worth, base: TokenMeta | None, held: Holdings) -> str:
    """Why a token is not exchanged whatever the pools say; empty where it is."""
    if base is None:
        return "the base asset is not known on its chain; its owner is needed"
    owed = {part.token.address for each in held.positions for part in each.parts if part.raw < 0}
    if worth.token.address in owed:
        return "a debt that is still open asks for it"
    if worth.problem == NO_FEED:
        return "nobody prices it, so it is not sold blindly; its owner is needed"
    if worth.micro_usd is not None and worth.micro_usd < LEAST_MICRO_USD:
        return "it is worth less than a dollar"
    return ""


def _rank(held: Holdings, base: TokenMeta | None) -> list[Worth]:
    """What is in the wallet beside the base asset and the coin, what is worth most first."""
    kept = "" if base is None else base.address
    rows: Iterable[Worth] = (
        each for each in held.tokens if each.raw > 0 and not each.token.is_native and each.token.address != kept
    )
    return sorted(rows, key=lambda each: (-(each.micro_usd or 0), each.token.address))


def _find_base(golem: Golem, chain: ChainReader) -> TokenMeta | None:
    """The base asset on this chain; the wrapped coin where the golem measures itself in the coin."""
    wanted = golem.base_asset.lower()
    native = chain.native()
    if wanted in (native.symbol.lower(), native.address.lower()):
        wanted = f"w{native.symbol.lower()}"
    return next(
        (each for each in chain.registered_tokens() if wanted in (each.symbol.lower(), each.address.lower())), None
    )


def _read_held(golem: Golem, chain: ChainReader) -> Holdings:
    if not golem.address:
        return Holdings(())
    hints = list_hints(chain_id=chain.chain_id, account=golem.address)
    return measure_holdings(chain=chain, account=golem.address, hints=hints)


def _describe(worth: Worth) -> dict[str, object]:
    return {
        "token": worth.token.symbol,
        "token_address": worth.token.address,
        "units": format_units(worth.raw, worth.token.decimals, worth.token.symbol),
    }


def _count_attempts(golem: Golem, epoch: int, token: TokenMeta) -> int:
    """How often in a row a sale of it was mined and reverted under this halt."""
    ended = ActionPermit.objects.filter(
        golem=golem,
        halt_epoch=epoch,
        tool_name=TOOL_NAME,
        action_type=EXCHANGE_ACTION,
        chain_id=token.chain_id,
        params__token=token.address,
        status__in=[PermitStatus.REVERTED, PermitStatus.COMMITTED],
    ).order_by("-created_at")
    newest = list(ended.values_list("status", flat=True)[:MOST_ATTEMPTS])
    return next((at for at, status in enumerate(newest) if status == PermitStatus.COMMITTED), len(newest))
