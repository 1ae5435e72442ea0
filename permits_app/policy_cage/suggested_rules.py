"""The rules a new cage starts with: the golem's own policy, said in the contract's words.

Nothing is invented: limits come from the golem's rows, assets and contracts from its allowlist, feeds from the chain's
registry. The owner reads and signs them with the deployment.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from archetypes_app.models import Golem
from permits_app.models import AllowlistEntry, PolicyCage, SpendingLimits
from permits_app.models.allowlist import AllowlistKind
from permits_app.policy_cage.contract import (
    MOST_RECIPIENTS,
    WINDOW_SECONDS,
    AssetRule,
    Limit,
    Refill,
    Rule,
    RuleKind,
    address_key,
    asset_rules,
    conditional_call_rules,
    guardian_rule,
    key_address,
    limit_rule,
    payout_rule,
    recipient_rule,
    spender_rule,
    valuer_rule,
)
from permits_app.policy_cage.suggested_bounds import (
    USUAL_JUMP_OF_BASE_PERCENT,
    USUAL_JUMP_PERCENT,
    read_bounds,
    sequencer_rules,
)
from permits_app.policy_cage.suggested_conditions import Places, suggest_conditions
from tools_app.chain.chains import get_deployment
from tools_app.chain.feeds import DEFAULT_MAX_AGE_SECONDS
from tools_app.chain.signatures import parse_signature
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.enums import Phase
from tools_app.toolkit.protocol import NOT_UNDER_A_CAGE, SHELF, Trait

MAX_LOSS_BPS: Final = 300
MAX_WINDOW_LOSS_BPS: Final = 300
MIN_COVER_BPS: Final = 11_500
MAX_POOLED_PER_DAY_BPS: Final = 2_500
MAX_GAS_TOP_UP_WEI: Final = 5 * 10**16
MAX_SESSION_SECONDS: Final = 30 * 86_400
MAX_SESSION_OPERATIONS: Final = 10_000
_CROSSING: Final = "what it sends goes to another chain, where the account of a cage is nobody's"
_OF_OTHERS: Final = "it moves money of a principal, and a cage counts its account's own alone"
_PHASES: Final = (Phase.THRIVING, Phase.CAUTIOUS, Phase.DEFENSIVE, Phase.SURVIVAL, Phase.TERMINAL)


@dataclass(frozen=True, slots=True)
class Ground:
    """What a cage's rules rest on whatever is left out: the golem's rows, and its feeds as they stand."""

    limits: SpendingLimits
    addresses: Mapping[str, Sequence[str]]
    """Of its allowlist, by kind."""
    rules: Sequence[Rule]
    """Of limits and assets."""


def read_ground(*, golem: Golem, chain: ChainReader, high_water_mark_micro_usd: int) -> Ground:
    """For whoever suggests rules several times over. Raises what a feed raises."""
    cage = PolicyCage.objects.filter(golem=golem).first() or PolicyCage(golem=golem)
    limits = SpendingLimits.objects.filter(golem=golem).first() or SpendingLimits(golem=golem)
    allowed = AllowlistEntry.objects.filter(golem=golem, chain_id=chain.chain_id).order_by("kind", "address")
    addresses = {kind: [row.address for row in allowed if row.kind == kind] for kind in AllowlistKind.values}
    rules = _limit_rules(golem, cage, limits, high_water_mark_micro_usd)
    # Those that have a feed take the places: what stands for a position, or has no price, takes none from them.
    priced = [token for token in addresses[AllowlistKind.TOKEN] if token in get_deployment(chain.chain_id).feeds]
    for token in priced[: cage.max_assets]:
        rules += _asset_rules(chain, token, limits, base_asset=golem.base_asset)
    return Ground(limits, addresses, rules)


def suggest_rules(
    *,
    golem: Golem,
    chain: ChainReader,
    high_water_mark_micro_usd: int,
    guardian: str | None,
    valuers: Mapping[str, str],
    left_out: Collection[str] = (),
    ground: Ground | None = None,
) -> list[Rule]:
    """Rules for the golem's home chain. An allowed token without a feed is left out: the cage could not value it.

    `valuers` are contracts on the chain that value positions, by their subjects; `left_out` are names of protocols that
    the cage begins without. What a cage cannot count is never among them: see `call_rules`. `ground` is what was read
    just now.

    Raises what a feed raises.
    """
    if ground is None:
        ground = read_ground(golem=golem, chain=chain, high_water_mark_micro_usd=high_water_mark_micro_usd)
    rules, addresses = list(ground.rules), ground.addresses
    counted = {each.key for each in rules if each.kind is RuleKind.ASSET}
    valued = {key_address(key) for key in counted}
    valued |= {place for place, subject in SHELF.valued_on(chain.chain_id).items() if subject in valuers}
    gone = _list_addresses(chain.chain_id, left_out) | set(list_beyond(chain.chain_id))
    rules += call_rules(chain.chain_id, set(addresses[AllowlistKind.CONTRACT]) - gone, valued=valued)
    for spender in addresses[AllowlistKind.SPENDER]:
        if spender not in gone:
            rules.append(spender_rule(spender, most_micro_usd=ground.limits.per_transaction_micro_usd))
    rules += [valuer_rule(subject, valuer) for subject, valuer in valuers.items() if subject not in gone]
    rules += sequencer_rules(chain.chain_id)
    rules += _payout_rules(chain.token(golem.base_asset).address, addresses[AllowlistKind.RECIPIENT], rules)
    if guardian is not None:
        rules.append(guardian_rule(guardian))
    return rules


def list_subjects(
    golem: Golem, chain_id: int, *, left_out: Collection[str] = (), ground: Ground | None = None
) -> list[str]:
    """The places on a chain where the golem may hold something that needs a valuer, by the contracts it may call.

    `left_out` are names of protocols that do not count; `ground` is what was read just now.
    """
    allowed = AllowlistEntry.objects.filter(golem=golem, chain_id=chain_id, kind=AllowlistKind.CONTRACT)
    places = SHELF.valued_on(chain_id)
    contracts = ground.addresses[AllowlistKind.CONTRACT] if ground else allowed.values_list("address", flat=True)
    called = set(contracts) - _list_addresses(chain_id, left_out)
    return list(dict.fromkeys(subject for place, subject in places.items() if place in called and subject))


def list_uncaged(golem: Golem, chain_id: int) -> list[str]:
    """What the golem may call on a chain and under no cage: the protocol's label, and why."""
    allowed = AllowlistEntry.objects.filter(golem=golem, chain_id=chain_id, kind=AllowlistKind.CONTRACT)
    called = set(allowed.values_list("address", flat=True))
    found = {each.name: each.uncaged for place, each in SHELF.uncaged_on(chain_id).items() if place in called}
    for place, why in list_beyond(chain_id).items():
        protocol = SHELF.of_contract(chain_id, place)
        if place in called and protocol is not None:
            found.setdefault(protocol.name, why)
    return [f"{SHELF.label_on(name, chain_id)}: {why}" for name, why in sorted(found.items())]


def _list_addresses(chain_id: int, names: Collection[str]) -> set[str]:
    """Every contract on a chain of the protocols of these names."""
    named = (protocol for protocol in SHELF.on(chain_id) if protocol.name in names)
    return {address for protocol in named for address in (protocol.deployments(chain_id) or {}).values()}


def list_beyond(chain_id: int) -> dict[str, str]:
    """Every contract on a chain whose calls move what no cage counts, and why: it is gone to another chain, where the
    contract that holds the cage is nobody's account, or it is somebody else's money.
    """
    crossing = [each.name for each in SHELF.on(chain_id) if Trait.CROSS_CHAIN in each.traits]
    others = [each.name for each in SHELF.on(chain_id) if each.received is not None]
    return {
        **dict.fromkeys(_list_addresses(chain_id, others), _OF_OTHERS),
        **dict.fromkeys(_list_addresses(chain_id, crossing), _CROSSING),
    }


def _limit_rules(golem: Golem, cage: PolicyCage, limits: SpendingLimits, mark: int) -> list[Rule]:
    values = {
        Limit.MAX_LOSS_BPS: MAX_LOSS_BPS,
        Limit.MAX_WINDOW_LOSS_BPS: MAX_WINDOW_LOSS_BPS,
        Limit.MAX_POSITION_BPS: cage.max_position_bps,
        Limit.MAX_CONCENTRATION_BPS: cage.max_concentration_bps,
        Limit.MAX_DRAWDOWN_BPS: cage.max_drawdown_bps,
        Limit.MIN_COLLATERAL_RATIO_BPS: cage.min_collateral_ratio_bps,
        Limit.MIN_COVER_BPS: MIN_COVER_BPS,
        Limit.MIN_RANGE_TICKS: cage.min_range_ticks,
        Limit.MAX_POOLED_PER_DAY_BPS: MAX_POOLED_PER_DAY_BPS,
        Limit.MIN_REBALANCE_INTERVAL_SECONDS: cage.min_rebalance_interval_seconds,
        Limit.MAX_REBALANCES_PER_DAY: cage.max_rebalances_per_day,
        Limit.MAX_ASSETS: min(cage.max_assets, 10),
        Limit.MAX_GAS_TOP_UP_WEI: MAX_GAS_TOP_UP_WEI,
        Limit.ALLOWS_ARBITRARY_CALLS: int(cage.allows_arbitrary_calldata),
        Limit.PHASE: _PHASES.index(Phase(golem.phase)),
        Limit.HIGH_WATER_MARK_MICRO_USD: mark,
        Limit.MAX_SESSION_SECONDS: MAX_SESSION_SECONDS,
        Limit.MAX_SESSION_OPERATIONS: MAX_SESSION_OPERATIONS,
        Limit.MAX_SESSION_BUDGET_MICRO_USD: limits.per_session_micro_usd,
    }
    return [limit_rule(limit, value) for limit, value in values.items()]


def _asset_rules(chain: ChainReader, token: str, limits: SpendingLimits, *, base_asset: str) -> list[Rule]:
    feed = get_deployment(chain.chain_id).feeds[token]
    meta = chain.token(token)
    price = chain.price(meta)
    unit: int = 10 ** (meta.decimals + price.decimals)

    def base_units(micro_usd: int) -> int:
        return micro_usd * unit // (price.answer * 10**6)

    least, most = read_bounds(chain, feed.address)
    asset = AssetRule(
        feed=feed.address,
        max_age_seconds=feed.max_age_seconds or DEFAULT_MAX_AGE_SECONDS,
        token_decimals=meta.decimals,
        feed_decimals=price.decimals,
        most_jump_percent=USUAL_JUMP_OF_BASE_PERCENT if meta.symbol == base_asset else USUAL_JUMP_PERCENT,
        least=least,
        most=most,
    )
    return asset_rules(
        token,
        asset,
        per_batch=base_units(limits.per_transaction_micro_usd),
        per_window=base_units(limits.per_day_micro_usd),
    )


def _payout_rules(base_asset: str, recipients: Sequence[str], rules: Sequence[Rule]) -> list[Rule]:
    """Whom the owner lets the golem pay, it pays in the base asset: as much a day as may leave in a day."""
    [most] = [rule.value for rule in rules if (rule.kind, rule.key) == _day_of(base_asset)] or [0]
    if not most:
        return []
    most = min(most, 2**112 - 1)
    refill = Refill(most, most, WINDOW_SECONDS)
    return [
        rule
        for number, recipient in enumerate(recipients[:MOST_RECIPIENTS])
        for rule in (recipient_rule(number, recipient), payout_rule(0, number, base_asset, refill))
    ]


def _day_of(asset: str) -> tuple[RuleKind, bytes]:
    return RuleKind.OUTFLOW_PER_WINDOW, address_key(asset)


def call_rules(chain_id: int, contracts: set[str], *, valued: Collection[str] | None) -> list[Rule]:
    """What the golem's own tools call at these contracts, under conditions on who receives and which tokens.

    Nothing for a contract they do not know.

    Nor for a place of positions that is not `valued`, by a valuer or as an asset with a feed: what counts as nothing
    there could be taken for nothing. None values everything but what no valuer can count.

    Nor for what sends to another chain or moves a principal's money (`list_beyond`): a cage counts its account alone.
    """
    rules: list[Rule] = []
    contracts = contracts - set(list_beyond(chain_id))
    for address, contract in SHELF.contracts_on(chain_id):
        if address not in contracts or contract.valued_at == NOT_UNDER_A_CAGE:
            continue
        if contract.is_place and valued is not None and address not in valued:
            continue
        for text in contract.functions:
            places = (contract.own.get(text, ()), contract.tokens.get(text, ()), contract.empty.get(text, ()))
            rules += _rules_of(address, text, *places)
    return rules


@lru_cache(maxsize=4_096)
def _rules_of(address: str, text: str, own: Places, tokens: Places, empty: Places) -> tuple[Rule, ...]:
    # Kept, because a deployment that does not fit is put together a dozen times to find what has to go.
    selector = parse_signature("function " + text.removeprefix("function ")).selector
    return tuple(
        conditional_call_rules(address, selector, suggest_conditions(text, own=own, tokens=tokens, empty=empty))
    )
