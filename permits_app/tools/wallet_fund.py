"""`wallet_fund`: test money from the local chain's faucet; from another golem of the same owners, who agree to each,
under that golem's own permit; from another chain of the golem by the bridge's own call, which the refusal spells out;
other money comes from people, and the refusal says how.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal
from uuid import UUID

from django.db.models import Q
from pydantic import AfterValidator, Field

from archetypes_app.models import Golem
from permits_app.models import AllowlistEntry
from permits_app.models.allowlist import AllowlistKind
from permits_app.tools.wallet import wallet
from tools_app.core.errors import GolemError, InvalidParams, Recovery
from tools_app.core.json_types import JsonObject
from tools_app.core.units import format_units
from tools_app.standards.erc20 import balance_of
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import ReadContext, WriteContext
from tools_app.toolkit.enums import ActionClass, Requirement, TickBudget
from tools_app.toolkit.faucets import MOST_COINS_WEI, MOST_UNITS, Faucet, FaucetMissing, Gift
from tools_app.toolkit.golem_chains import list_chains
from tools_app.toolkit.golem_transfers import GolemTransfers, Handover
from tools_app.toolkit.params import ChainId, RawAmount, Token
from tools_app.toolkit.plan import LocalEffect
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.tooldef import WriteTool
from tools_app.toolkit.views import TokenMeta

FundSource = Annotated[
    Literal["faucet", "transfer", "bridge"],
    Field(
        description="faucet: test money of the local chain. bridge: tells the call that brings it from `from_chain`."
        " transfer: brings it from another golem of the same owners, `from_golem`, once they agreed; without that it"
        " tells who can send and where to."
    ),
]
FromGolem = Annotated[
    str,
    Field(
        pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
        description="Id of another golem of the same owners, which sends it under a permit of its own.",
    ),
    AfterValidator(str.lower),
]
_COIN: Final = "ETH"
_BRIDGE: Final = "bridge_execute"


class FundingNeedsPeople(
    GolemError,
    code="FUNDING_NEEDS_OWNER",
    status=409,
    recovery=Recovery.ASK_OWNER,
    title="An owner sends this money themselves",
):
    """Money of others comes to a golem by their own hand."""


class FundingByBridge(
    GolemError,
    status=409,
    recovery=Recovery.FIX_PARAMS,
    title="The bridge's own call brings it",
    cleared_by="the call that it names",
):
    """What the golem has on another chain comes by the bridge's own call, under a permit of its own."""


@dataclass(frozen=True, slots=True)
class Funded:
    """What arrived, or is on its way. `tx_hash` is null for the faucet, which mints, and while nothing was sent. Of a
    transfer `giver_permit_id` and `giver_status` are the giving golem's own permit, which may wait for its owners.
    """

    tx_hash: str | None
    amount_funded: TokenAmount
    token: str
    source: str
    balance: TokenAmount
    giver_permit_id: str | None = None
    giver_status: str | None = None


def preview_fund(
    ctx: WriteContext,
    source: FundSource,
    token: Token = _COIN,
    amount: RawAmount | None = None,
    chain_id: ChainId | None = None,
    from_chain: ChainId | None = None,
    from_golem: FromGolem | None = None,
) -> LocalEffect:
    """What would arrive. Raises FundingNeedsPeople, FundingByBridge, FaucetMissing, InvalidParams."""
    if source == "transfer" and from_golem is not None:
        return _preview_handover(ctx, token, amount, chain_id, from_golem)
    if source == "bridge" and from_chain is not None:
        raise _name_bridge(ctx, token, amount, chain_id, from_chain)
    meta, raw = _choose(ctx, source, token, amount, chain_id)
    shown = format_units(raw, meta.decimals, meta.symbol)
    return LocalEffect(
        f"Take {shown} of test money from the local chain's faucet",
        {"source": source, "token": meta.address, "amount": str(raw), "account": ctx.account},
    )


@wallet.local_write(
    schema_version=3,
    budget=TickBudget.SLOW,
    preview=preview_fund,
    action_class=ActionClass.DECREASE_POSITION,
    requires=(Requirement.WALLET,),
    snippet=(
        "fund: take test money from the local faucet, 1 coin or 15,000 units at most; be told the bridge's call from"
        " another chain; or be sent it by another golem of your owners."
    ),
    guidelines=("Test money is worth nothing: a balance that came from a faucet proves no strategy.",),
)
def wallet_fund(
    ctx: WriteContext,
    capability: Capability,
    source: FundSource,
    token: Token = _COIN,
    amount: RawAmount | None = None,
    chain_id: ChainId | None = None,
    from_chain: ChainId | None = None,
    from_golem: FromGolem | None = None,
) -> Funded:
    """Fund the golem's wallet with test money or from another golem of its owners, or learn what brings money.

    Use on the local chain before trying a strategy. Without an amount the faucet gives the most that one request gives.
    A transfer from `from_golem` waits for the owners' approval, and is a permit of that golem within its own limits.
    Does not take money from anybody else: an owner sends, or grants a runway that redeem_runway draws. What the golem
    has on another chain the bridge's own call brings, under a permit of its own.
    """
    if source == "transfer" and from_golem is not None:
        return _hand_over(ctx, token, amount, chain_id, from_golem)
    meta, raw = _choose(ctx, source, token, amount, chain_id)
    ctx.step("Asking the faucet")
    faucet: Faucet = ctx.service(Faucet)  # type: ignore[type-abstract]
    faucet.give(chain_id=meta.chain_id, account=ctx.account, gift=Gift(meta.symbol, meta.is_native, raw))
    held = balance_of(ctx.open_chain(meta.chain_id), meta, ctx.account)
    return Funded(None, TokenAmount(raw, meta), meta.address, source, TokenAmount(held, meta))


def _preview_handover(
    ctx: WriteContext, token: str, amount: int | None, chain_id: int | None, from_golem: str
) -> LocalEffect:
    """What the owners are asked. Raises InvalidParams, FundingNeedsPeople."""
    giver, meta, raw = _check_handover(ctx, token, amount, chain_id, from_golem)
    shown = format_units(raw, meta.decimals, meta.symbol)
    facts = {
        "source": "transfer",
        "from_golem": str(giver.pk),
        "from_account": giver.address,
        "account": str(ctx.account),
        "chain_id": str(meta.chain_id),
        "token": meta.address,
        "amount": str(raw),
    }
    line = {
        "words": f"Money of {giver.name}",
        "before": f"{shown} at {giver.address}",
        "after": f"{shown} at {ctx.account}, the account of {ctx.golem.name}",
        "note": f"{giver.name} sends it under a permit of its own, within its own limits",
    }
    return LocalEffect(
        f"Have {giver.name} send {shown} to {ctx.golem.name}", facts, (line,), bound=facts, needs_owners=True
    )


def _hand_over(ctx: WriteContext, token: str, amount: int | None, chain_id: int | None, from_golem: str) -> Funded:
    giver, meta, raw = _check_handover(ctx, token, amount, chain_id, from_golem)
    ctx.step("Having the other golem send it")
    transfers: GolemTransfers = ctx.service(GolemTransfers)  # type: ignore[type-abstract]
    asked = Handover(giver.pk, ctx.golem.id, meta.chain_id, meta.address, raw, str(ctx.account))
    done = transfers.send(asked, why=f"funds {ctx.golem.name}, as the owners of both agreed", now=ctx.now)
    held = balance_of(ctx.open_chain(meta.chain_id), meta, ctx.account)
    amounts = TokenAmount(raw, meta), meta.address, "transfer", TokenAmount(held, meta)
    return Funded(done.tx_hash or None, *amounts, done.permit_id, done.status)


def _check_handover(
    ctx: ReadContext, token: str, amount: int | None, chain_id: int | None, from_golem: str
) -> tuple[Golem, TokenMeta, int]:
    """The giving golem, the token and how much. Raises InvalidParams, FundingNeedsPeople, and what the chain raises."""
    reader, account = ctx.chain(chain_id), str(ctx.golem.address)
    meta = reader.token(token)
    givers = {str(each.pk): each for each in list_givers(ctx.golem.id, reader.chain_id)}
    giver = givers.get(from_golem.lower())
    if giver is None:
        known: JsonObject = {"fill": {"from_golem": {"one_of": sorted(givers)}}} if givers else {}
        raise InvalidParams(
            f"no golem of that id has the same owners and an account on chain {reader.chain_id}; {len(givers)} have",
            fields={"from_golem": "another golem of the same owners"},
            **known,
        )
    if amount is None:
        raise InvalidParams("say how much of it", fields={"amount": f"base units of {meta.symbol}"})
    held = balance_of(reader, meta, giver.address)
    if amount > held:
        raise InvalidParams(
            f"{giver.name} holds {format_units(held, meta.decimals, meta.symbol)}",
            fields={"amount": f"at most {held}"},
            most=str(held),
        )
    listed = AllowlistEntry.objects.filter(
        golem=giver, chain_id=reader.chain_id, kind=AllowlistKind.RECIPIENT, address=account
    )
    if not listed.exists():
        raise FundingNeedsPeople(
            f"{giver.name} pays recipients that its owners registered, and {account} is none of them on chain"
            f" {reader.chain_id}; an owner adds it to that golem's allowlist",
            account=account,
            chain_id=reader.chain_id,
            from_golem=str(giver.pk),
        )
    return giver, meta, amount


def list_givers(asker_id: UUID, chain_id: int) -> tuple[Golem, ...]:
    """Golems that may give to the asker on a chain, by name: each of the asker's people is one of theirs too, so that
    who approves for the one decides over the other as well.
    """
    asker = Golem.objects.get(pk=asker_id)
    people = {asker.owner_id, *asker.co_owners.values_list("pk", flat=True)}
    own = Golem.objects.filter(retired_at__isnull=True).exclude(pk=asker_id).exclude(address="")
    shared = own.filter(Q(owner_id=asker.owner_id) | Q(co_owners=asker.owner_id)).distinct().order_by("name", "pk")
    return tuple(
        each
        for each in shared.prefetch_related("co_owners")
        if people <= {each.owner_id, *(one.pk for one in each.co_owners.all())} and chain_id in list_chains(each)
    )


def _name_bridge(
    ctx: WriteContext, token: str, amount: int | None, chain_id: int | None, from_chain: int
) -> GolemError:
    """The bridge's call for so much from another chain of the golem, or why there is none."""
    to_chain = chain_id if chain_id is not None else ctx.golem.home_chain_id
    own = [each for each in (ctx.golem.home_chain_id, *ctx.golem.other_chain_ids) if each != to_chain]
    if from_chain not in own:
        return InvalidParams(
            f"{from_chain} is no other chain of this golem",
            fields={"from_chain": " or ".join(map(str, own)) or "none: it has one chain"},
        )
    if amount is None:
        return InvalidParams("say how much of it", fields={"amount": "base units on the chain that it leaves"})
    tool = REGISTRY.get(_BRIDGE)
    if not isinstance(tool, WriteTool):
        return FundingNeedsPeople("no bridge is served here")
    call = {"bridge": tool.venue, "token": token, "amount": str(amount), "source_chain": from_chain}
    return FundingByBridge(
        f"{tool.key} at {tool.venue} sends {amount} base units of {token} from chain {from_chain} to the golem's own"
        f" account on chain {to_chain}, under a permit of its own",
        next={"action_type": tool.key, "venue": tool.venue, **call, "dest_chain": to_chain},
    )


def _choose(
    ctx: ReadContext, source: str, token: str, amount: int | None, chain_id: int | None
) -> tuple[TokenMeta, int]:
    """The token and how much of it. Raises FundingNeedsPeople, FaucetMissing, InvalidParams."""
    reader, account = ctx.chain(chain_id), ctx.golem.address
    meta = reader.token(token)
    if source != "faucet":
        there = ", and what it has on another chain is bridged from there" if source == "bridge" else ""
        raise FundingNeedsPeople(
            f"a golem takes money from nobody{there}: an owner sends {meta.symbol} to {account} on chain"
            f" {reader.chain_id}, or grants a runway, which redeem_runway draws",
            account=str(account),
            chain_id=reader.chain_id,
            token=meta.address,
        )
    faucet: Faucet = ctx.service(Faucet)  # type: ignore[type-abstract]
    if not faucet.gives_on(reader.chain_id):
        raise FaucetMissing(
            f"chain {reader.chain_id} has no faucet here; an owner sends {meta.symbol} to {account}",
            account=str(account),
            chain_id=reader.chain_id,
        )
    most = MOST_COINS_WEI if meta.is_native else MOST_UNITS * 10**meta.decimals
    raw = most if amount is None else amount
    if raw > most:
        raise InvalidParams(
            f"one request gives at most {format_units(most, meta.decimals, meta.symbol)}",
            fields={"amount": f"at most {most}, or left out for that"},
        )
    if not meta.is_native and not meta.is_registered:
        raise InvalidParams("the faucet gives registered tokens alone", fields={"token": "one of this chain's list"})
    return meta, raw
