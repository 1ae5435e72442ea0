"""An account at a pool as one position: what it supplied, what it owes, its health; and how it is left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tools_app.chain.abi import checksum
from tools_app.standards.aave_like import signatures
from tools_app.standards.aave_like.contracts import contracts_on
from tools_app.standards.aave_like.reads import ZERO, HeldReserve, account_calls, held_call, read_account, read_held
from tools_app.standards.aave_like.signatures import Configuration
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.lending import DEFAULT_HEALTH_FLOOR_BPS
from tools_app.toolkit.positions import (
    Act,
    ExitStep,
    Leg,
    Locked,
    NeedsTrade,
    Position,
    PositionRef,
    PositionsUnreadable,
    Reads,
    gather,
)
from tools_app.toolkit.prefetch_memory import RECALLED
from tools_app.toolkit.views import LogEntry

ACCOUNT = "account"
ROOM_ABOVE_FLOOR_BPS = 100
"""Health this close to the floor leaves nothing worth taking out."""
REPAY_SPARE_BPS = 5
"""Interest of the blocks until the repayment is mined, of an account that has just enough."""


def ref_of(protocol: str, chain_id: int, account: str) -> PositionRef:
    """The one position of an account."""
    return PositionRef(protocol, ACCOUNT, chain_id, account)


@dataclass(frozen=True, slots=True)
class AccountPositions:
    """Reads accounts of one lender."""

    protocol: str
    label: str
    deployments: Callable[[int], Mapping[str, str] | None]

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """One batch while the reserves are those of the last time, two where they are not, and one more when something
        is held. Raises PositionsUnreadable.
        """
        where = contracts_on(self.deployments, chain_id)
        if where is None:
            return ()
        pool = where.pool
        expected = RECALLED.get(chain_id, pool)
        listed, about, outcomes = yield from gather(
            [ReadCall(pool, signatures.RESERVES_LIST)],
            account_calls(pool, account),
            [held_call(where, asset, account) for asset in expected],
        )
        if not listed[0].ok:
            raise PositionsUnreadable(f"{self.label} does not list its reserves")
        found = read_account(about)
        assets = tuple(str(asset) for asset in listed[0].values[0])
        RECALLED.put(chain_id, pool, assets)
        if assets != expected:
            outcomes = yield [held_call(where, asset, account) for asset in assets]
        told = {asset: read_held(outcome) for asset, outcome in zip(assets, outcomes, strict=True)}
        held = {asset: each for asset, each in told.items() if not each.is_empty}
        if not held:
            return ()
        details, totals, category, sources = yield from gather(
            [ReadCall(pool, signatures.RESERVE, (asset,)) for asset in held],
            [ReadCall(where.data_provider, signatures.RESERVE_TOTALS, (asset,)) for asset in held],
            _category_calls(pool, found.e_mode),
            [ReadCall(where.oracle, signatures.ASSET_SOURCE, (asset,)) for asset in held],
        )
        kept: list[Leg] = []
        claims: set[str] = set()
        # An oracle that does not say where a price is from is bound alone.
        oracles = {where.oracle, *(checksum(source.values[0]) for source in sources if source.ok)}
        relied = set(oracles)
        locked: list[Locked] = []
        for (asset, each), detail, total in zip(held.items(), details, totals, strict=True):
            if not detail.ok:
                raise PositionsUnreadable(f"{self.label} does not tell the reserve of {asset}")
            [data] = detail.values
            cover = _cover_of(Configuration(data[0]), data[7], found.e_mode, category) if each.is_collateral else 0
            kept += _legs_of(asset, each, cover)
            locked += _locked_of(asset, each, Configuration(data[0]), total)
            claims.update(token for token in data[8:11] if token != ZERO)
            relied.add(checksum(data[11]))
        return (
            Position(
                ref=ref_of(self.protocol, chain_id, account),
                label=f"Account at {self.label}",
                legs=tuple(kept),
                health_bps=found.health_bps,
                claim_tokens=frozenset(claims),
                facts={
                    "e_mode": str(found.e_mode),
                    "stable_debts": [asset for asset, each in held.items() if each.stable_owed],
                    "not_collateral": [a for a, each in held.items() if each.supplied and not each.is_collateral],
                },
                relies_on=frozenset(relied - {ZERO}),
                oracles=frozenset(oracles - {ZERO}),
                locked=tuple(locked),
            ),
        )

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """The account's own, once a log of the pool names it."""
        where = contracts_on(self.deployments, chain_id)
        name = account.lower().removeprefix("0x")
        spoke = where is not None and any(
            log.address == where.pool and any(topic.lower().endswith(name) for topic in log.topics[1:]) for log in logs
        )
        return (ref_of(self.protocol, chain_id, account),) if spoke else ()


def _category_calls(pool: str, number: int) -> list[ReadCall]:
    if not number:
        return []
    return [ReadCall(pool, each, (number,)) for each in (signatures.E_MODE, signatures.E_MODE_COLLATERALS)]


def _cover_of(configuration: Configuration, number: int, e_mode: int, category: Sequence[ReadOutcome]) -> int:
    """What a reserve counts as collateral; in the account's e-mode, what that says."""
    if e_mode:
        about, members = category
        if not about.ok:
            raise PositionsUnreadable("the pool does not tell the account's e-mode")
        is_in = bool(members.values[0] >> number & 1) if members.ok else configuration.e_mode == e_mode
        if is_in:
            return int(about.values[0][1])
    return configuration.threshold_bps


def _locked_of(asset: str, held: HeldReserve, configuration: Configuration, total: ReadOutcome) -> list[Locked]:
    """What of a supply cannot be taken out now, or that its reserve takes nothing in any more."""
    if not held.supplied:
        return []
    if configuration.is_paused or not configuration.is_active:
        return [Locked(asset, held.supplied, "paused")]
    if not total.ok:
        raise PositionsUnreadable("the data provider does not tell what a reserve has")
    free = max(0, total.values[2] - total.values[3] - total.values[4])
    if free < held.supplied:
        return [Locked(asset, held.supplied - free, "used")]
    return [Locked(asset, 0, "frozen")] if configuration.is_frozen else []


def _legs_of(asset: str, held: HeldReserve, cover: int) -> list[Leg]:
    legs = [Leg(asset, held.supplied, cover_bps=cover)] if held.supplied else []
    return legs + [Leg(asset, -owed) for owed in (held.variable_owed, held.stable_owed) if owed]


@dataclass(frozen=True, slots=True)
class AccountExits:
    """Leaves an account: the last debt, where the wallet has all of it, is paid and everything taken out in one plan;
    who may trade leads a single debt out whole. Else repay with what is there, take out what the floor allows, again.
    """

    repay_tool: str
    withdraw_tool: str

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """Asked again after every step; None when nothing is left."""
        chain = {"chain_id": position.ref.chain_id}
        owing = [leg for leg in position.legs if leg.raw < 0]
        supplied = [leg for leg in position.legs if leg.raw > 0]
        stable = position.facts.get("stable_debts", ())
        debts = {leg.token: -leg.raw for leg in owing}
        short = None
        for token, owed in debts.items():
            has, wanted = held.get(token, 0), owed + owed * REPAY_SPARE_BPS // 10_000 + 2
            is_last = len(owing) == 1 and bool(supplied)
            if is_last and has < wanted:
                short = NeedsTrade(token, wanted - has, "the debt is to be repaid, so that its cover comes out")
            if has <= 0:
                continue
            mode = "stable" if token in stable else "variable"
            params = {"asset": token, "amount": "max", "interest_rate_mode": mode, **chain}
            if is_last and short is None:
                reason = "the debt is paid back and what was put in taken out"
                alone = Act(self.repay_tool, params, "the debt is paid back")
                return Act(self.repay_tool, {**params, "withdraw_collateral": True}, reason, in_part=alone)
            return Act(self.repay_tool, params, "debts are repaid with what is there", short)
        if not debts:
            if not supplied:
                return None
            return Act(
                self.withdraw_tool,
                {"asset": supplied[0].token, "amount": "max", **chain},
                "nothing is owed: what was put in is taken out",
            )
        free = [leg for leg in supplied if not leg.cover_bps]
        has_room = (position.health_bps or 0) > DEFAULT_HEALTH_FLOOR_BPS + ROOM_ABOVE_FLOOR_BPS
        for leg in [*free, *(supplied if has_room else ())]:
            params = {"asset": leg.token, "amount": "max", **chain}
            return Act(self.withdraw_tool, params, "as much as the floor of its health leaves", short)
        token, owed = next(iter(debts.items()))
        return NeedsTrade(token, owed, "what was borrowed is not there any more; its debt is repaid first")
