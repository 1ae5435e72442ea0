"""Adds to a refusal what the golem would have to look up to mend it: what it holds, which tokens, pools, ids there are.

The figures are reads that the agent could make itself, so nothing is told that it may not know. Where such a read fails
the refusal stands without them. Nothing is chosen: what moves money stays the caller's to say, in `fill`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from archetypes_app.models import Golem
from archetypes_app.phases import is_allowed
from golem_project.pi.problem_members import Hints, Members, Problem, ReadOnlyMembers, SuggestedCall
from permits_app.actions.query import query_state
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core.errors import GolemError
from tools_app.core.units import format_units
from tools_app.toolkit.enums import Phase, PiTool
from tools_app.toolkit.golem_toolset import Toolset
from tools_app.wording.address_names import find_token, list_tokens

CODES: Final = frozenset(
    {
        "INVALID_PARAMS",
        "INSUFFICIENT_BALANCE",
        "ROUTING_INSUFFICIENT_LIQUIDITY",
        "STAKE_TOO_SMALL",
        "TOKEN_NOT_FOUND",
        "POOL_NOT_FOUND",
        "WITHDRAWAL_REQUEST_NOT_FOUND",
        "PERMIT_NOT_FOUND",
        "SAFETY_PHASE_BLOCKED",
    }
)
"""Refusals that this knows something about."""
_OF_ALL: Final = frozenset({"max", "all", "everything", "full", "entire", "100%", "balance"})
_SPENDS: Final = ("token_in", "token", "asset")
_VAULTS: Final = "vault_savings"


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """A refused call: of which golem, what it said, what the refusal says so far, and when."""

    golem: Golem
    toolset: Toolset
    tool: str
    body: ReadOnlyMembers
    problem: ReadOnlyMembers
    members: Members
    now: datetime
    said: Members = field(init=False)

    def __post_init__(self) -> None:
        nested = self.body.get("params")
        flat = {name: value for name, value in self.body.items() if name != "params" and value is not None}
        object.__setattr__(self, "said", {**nested, **flat} if isinstance(nested, Mapping) else flat)

    @property
    def chain_id(self) -> int:
        chain = self.said.get("chain_id")
        return chain if isinstance(chain, int) and not isinstance(chain, bool) else self.golem.home_chain_id

    def read(self, query: str, venue: str | None = None, **params: object) -> ReadOnlyMembers:
        """What the golem's own read answers; empty where it has none or it fails."""
        chain = {} if self.chain_id == self.golem.home_chain_id else {"chain_id": self.chain_id}
        try:
            answer = query_state(golem=self.golem, query=query, venue=venue, params={**chain, **params}, now=self.now)
        except GolemError:
            return {}
        data = answer.get("data", answer)
        return data if isinstance(data, Mapping) else {}

    def ask(self, name: str, **known: object) -> Members:
        """The call without what was said of `name`, which `fill` asks for with what is known of it."""
        hints = Hints(self.members)
        unfinished = hints.unfinished_call or SuggestedCall(self.tool, self.said)
        arguments = {each: value for each, value in unfinished.arguments.items() if each != name}
        fill = {**hints.fill, name: {**hints.fill.get(name, {}), **known}}
        call = SuggestedCall(unfinished.tool, arguments)
        return {**hints.without("next_call"), "unfinished_call": call.to_json(), "fill": fill}


def add_known(refused: RefusedCall) -> Members:
    """The members of the refusal, with what is known of what they ask for."""
    code = Problem(refused.problem).code
    return _BY_CODE[code](refused) if code in _BY_CODE else refused.members


def _add_to_fields(refused: RefusedCall) -> dict[str, object]:
    members = refused.members
    for name in Hints(members).fill:
        said = refused.said.get(name)
        if name.startswith("amount") and str(said).strip().lower() in _OF_ALL:
            return _tell_held(refused, name)
        if name == "vault":
            vaults = [
                {"vault": each.get("vault") or each.get("address"), "name": each.get("name")}
                for each in _list(refused.read(_VAULTS), "vaults", "savings")
            ]
            return refused.ask(name, one_of=vaults) if vaults else members
    return members


def _add_balance(refused: RefusedCall) -> dict[str, object]:
    return _tell_held(refused, "amount") if "amount" in refused.said else refused.members


def _tell_held(refused: RefusedCall, name: str) -> Members:
    """Asks for an amount beside what the golem holds of the token that it would spend."""
    token = str(next((refused.said[each] for each in _SPENDS if refused.said.get(each)), "")).lower()
    balances = refused.read("wallet_status", "wallet").get("balances", ())
    for each in balances:
        meta = each.get("token", {})
        if token and token in (str(meta.get("symbol")).lower(), str(meta.get("address")).lower()):
            return refused.ask(name, held={"raw": each.get("balance"), "units": each.get("balance_units")})
    # What is not listed is not held; where nothing could be read nothing is said.
    return refused.ask(name, **({"held": {"raw": "0"}} if token and balances else {}))


def _add_unit(refused: RefusedCall) -> dict[str, object]:
    """Says what the amount was, in whole coins, and what one whole coin would be."""
    network = KNOWN_NETWORKS.get(refused.chain_id)
    said = str(refused.said.get("amount", ""))
    if network is None or not said.isdigit():
        return refused.members
    decimals, symbol = network.native_decimals, network.native_symbol
    return refused.ask(
        "amount",
        description=f"Base units: {said} is {format_units(int(said), decimals, symbol)}.",
        one_whole=str(10**decimals),
    )


def _add_tokens(refused: RefusedCall) -> dict[str, object]:
    """Asks for a token that is registered on the chain, and says what the one that was named is elsewhere."""
    wanted = {str(refused.problem.get(name, "")).lower() for name in ("address", "symbol")} - {""}
    names = [name for name, value in refused.said.items() if isinstance(value, str) and value.lower() in wanted]
    here = [token.symbol for token in list_tokens(refused.chain_id)]
    names = names or [
        name
        for name in (*_SPENDS, "token_out", "token0", "token1")
        if isinstance(refused.said.get(name), str)
        and not refused.said[name].startswith("0x")
        and refused.said[name].lower() not in map(str.lower, here)
    ]
    if not names or not here:
        return refused.members
    said = str(refused.said[names[0]])
    others = {str(value) for name, value in refused.said.items() if name not in (names[0], "venue")}
    symbol, that_is = _find_elsewhere(refused, said)
    listed = sorted((each for each in here if each not in others), key=lambda each: each != symbol)
    return refused.ask(names[0], one_of=listed, **({"that_is": that_is} if that_is else {}))


def _find_elsewhere(refused: RefusedCall, said: str) -> tuple[str, str]:
    """The symbol of what an address is on another chain, and what it is in words; empty where nobody knows."""
    if said.lower() == refused.golem.address.lower():
        return "", "the golem's own account"
    for chain_id, network in KNOWN_NETWORKS.items() if said.startswith("0x") else ():
        token = find_token(chain_id, said)
        if token is not None:
            return token.symbol, f"{token.symbol} of {network.name} (chain {chain_id})"
    return "", ""


def _add_fees(refused: RefusedCall) -> dict[str, object]:
    """Asks for a fee of which the pair has a pool."""
    pair = {name: refused.said.get(name) for name in ("token0", "token1")}
    if "fee" not in refused.said or None in pair.values():
        return refused.members
    pools = _list(refused.read("pools_by_pair", **pair), "pools")
    fees: set[Any] = {each.get("fee") for each in pools} - {None}  # Any: a figure, as its tool answers it
    return refused.ask("fee", one_of=sorted(fees)) if fees else refused.members


def _add_requests(refused: RefusedCall) -> dict[str, object]:
    """Asks for ids of the account's own withdrawal requests."""
    found = _list(refused.read("staking_position", _read_venue(refused)), "open_withdrawal_requests")
    ids = [each.get("request_id") or each.get("id") for each in found]
    return refused.ask("request_ids", one_of=ids)


def _read_venue(refused: RefusedCall) -> str | None:
    """The venue that the call named; None where it left that open."""
    venue = refused.said.get("venue")
    return venue if isinstance(venue, str) else None


def _add_permits(refused: RefusedCall) -> dict[str, object]:
    """Asks for one of the golem's open permits."""
    known = ("permit_id", "action_type", "venue", "status", "value_usd")
    permits = _list(refused.read("permits", "golem"), "permits")
    return refused.ask("permit_id", one_of=[{name: each.get(name) for name in known} for each in permits])


def _add_passing(refused: RefusedCall) -> dict[str, object]:
    """Names the actions of the golem that its phase lets pass."""
    phase = Phase(refused.golem.phase)
    passing = {
        tool.key
        for tool in refused.toolset
        if tool.pi_tool is PiTool.PREVIEW_ACTION
        and (kind := getattr(tool, "action_class", None)) is not None
        and is_allowed(phase, kind)
    }
    return {**refused.members, "actions_that_pass": sorted(passing)}


def _list(data: ReadOnlyMembers, *names: str) -> list[Mapping[str, object]]:
    found = next((data[name] for name in names if isinstance(data.get(name), list | tuple)), ())
    return [each for each in found if isinstance(each, Mapping)]


_BY_CODE: Final[Mapping[str, Callable[[RefusedCall], Members]]] = {
    "INVALID_PARAMS": _add_to_fields,
    "INSUFFICIENT_BALANCE": _add_balance,
    "ROUTING_INSUFFICIENT_LIQUIDITY": _add_balance,
    "STAKE_TOO_SMALL": _add_unit,
    "TOKEN_NOT_FOUND": _add_tokens,
    "POOL_NOT_FOUND": _add_fees,
    "WITHDRAWAL_REQUEST_NOT_FOUND": _add_requests,
    "PERMIT_NOT_FOUND": _add_permits,
    "SAFETY_PHASE_BLOCKED": _add_passing,
}
