"""Follows a cage's events to the newest block, and back and again when the chain was reorganised.

Reads only; what it found is kept by `actions.sync_policy_cage`. A point is the cage after one block: the state, and the
block's hash that tells whether the chain still holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from permits_app.errors import CageContradicted, CageReorganised, DeploymentTooFarBack, NotACage
from permits_app.models import CageMirror
from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.contract import Limit, RuleKind, decode_cage_event
from permits_app.policy_cage.mirror_check import find_contradiction
from permits_app.policy_cage.published_code import check_published
from permits_app.policy_cage.state import CageState
from tools_app.chain.node_errors import BlockUnavailable, CallReverted, ContractOutputUnexpected
from tools_app.core.clock import AHEAD
from tools_app.core.hashing import hash_canonical
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.views import BlockRef, LogEntry

VERSION = 8
MOST_BLOCKS_AT_ONCE = 200_000
"""How far one reading goes; a mirror that is further behind catches up in several."""
_MOST_READINGS = 20
COLUMNS: dict[str, Limit] = {
    "max_assets": Limit.MAX_ASSETS,
    "max_position_bps": Limit.MAX_POSITION_BPS,
    "max_concentration_bps": Limit.MAX_CONCENTRATION_BPS,
    "max_drawdown_bps": Limit.MAX_DRAWDOWN_BPS,
    "min_rebalance_interval_seconds": Limit.MIN_REBALANCE_INTERVAL_SECONDS,
    "max_rebalances_per_day": Limit.MAX_REBALANCES_PER_DAY,
    "min_collateral_ratio_bps": Limit.MIN_COLLATERAL_RATIO_BPS,
    "min_range_ticks": Limit.MIN_RANGE_TICKS,
}
"""Columns of the PolicyCage row that follow the contract."""
MIRRORED = (*COLUMNS, "allows_arbitrary_calldata")
"""What nobody writes here where there is a contract; it changes there."""


@dataclass(frozen=True)
class MirrorPoint:
    """A cage after one block; `block_time` in unix seconds. An empty hash is the block before its deployment."""

    block_number: int
    block_hash: str
    block_time: int
    state: CageState


@dataclass(frozen=True)
class Followed:
    """From which known point the chain was followed, what changed since, and where it stands now.

    `newest_block` is the chain's; the head is before it where there is more to read.
    """

    base: MirrorPoint
    changed: tuple[MirrorPoint, ...]
    head: MirrorPoint
    newest_block: int

    @property
    def is_newest(self) -> bool:
        return self.head.block_number == self.newest_block


@dataclass(frozen=True, slots=True)
class CageFacts:
    """What never changes about a cage, and whether its account acts through it."""

    account: str
    base_asset: str
    is_enforced: bool


def read_facts(chain: ChainReader, contract: str) -> CageFacts:
    """What the contract says of itself. Raises NotACage."""
    try:
        [version] = chain.call(contract, FUNCTIONS["VERSION"])
        [account] = chain.call(contract, FUNCTIONS["account"])
        [base_asset] = chain.call(contract, FUNCTIONS["baseAsset"])
        [is_enforced] = chain.call(contract, FUNCTIONS["isEnforced"])
    except (CallReverted, ContractOutputUnexpected) as error:
        raise NotACage(f"{contract} does not answer as a PolicyCage does", contract=contract) from error
    if version != VERSION:
        raise NotACage(f"{contract} is of version {version}; this server knows {VERSION}", contract=contract)
    check_published(chain, contract)
    return CageFacts(account, base_asset, is_enforced)


def is_enforced(chain: ChainReader, contract: str) -> bool:
    """Whether the account of a cage acts through it. Raises what a node raises."""
    return bool(chain.call(contract, FUNCTIONS["isEnforced"])[0])


def follow_cage(*, known: Sequence[MirrorPoint], open_chain: Callable[[], ChainReader], now: datetime) -> Followed:
    """Follow from the newest known point that the chain still holds; the last of `known` is before the deployment.

    Raises CageReorganised when the chain moved under the reading, CageContradicted when the contract does not say what
    its events say, and what a node raises.
    """
    chain = open_chain()
    base = next(point for point in known if not point.block_hash or _still_holds(chain, point))
    end = min(chain.block.number, base.block_number + MOST_BLOCKS_AT_ONCE)
    head = chain.block_at(end)
    logs = (
        chain.logs(address=base.state.cage, topics=[], from_block=base.block_number + 1, to_block=end)
        if base.block_number < end
        else []
    )
    changed = tuple(_replay(chain, base, logs))
    state = (changed[-1] if changed else base).state
    is_newest = end == chain.block.number
    contradiction = find_contradiction(chain=chain, state=state, now=now) if is_newest else None
    again = open_chain()
    if not _holds(again, head.number, head.hash):
        raise CageReorganised(f"block {head.number} is no longer {head.hash}", block_number=head.number)
    if contradiction is not None:
        raise CageContradicted(
            f"at block {head.number} the contract's {contradiction} is not what its events say",
            block_number=head.number,
            value=contradiction,
        )
    return Followed(base, changed, MirrorPoint(head.number, head.hash, head.timestamp, state), chain.block.number)


def read_from_deployment(
    *, contract: str, deployed_block: int, open_chain: Callable[[], ChainReader], now: datetime
) -> tuple[CageFacts, MirrorPoint]:
    """What a contract that nobody follows yet is, and all it says at the newest block.

    Raises NotACage, CageContradicted where the block is not the one of its deployment, DeploymentTooFarBack, and as
    `follow_cage`.
    """
    facts = read_facts(open_chain(), contract)
    empty = CageState(cage=contract, account=facts.account, base_asset=facts.base_asset)
    start = MirrorPoint(max(0, deployed_block - 1), "", 0, empty)
    point = start
    for _ in range(_MOST_READINGS):
        followed = follow_cage(known=[point, start], open_chain=open_chain, now=now)
        if followed.is_newest:
            return facts, followed.head
        point = followed.head
    raise DeploymentTooFarBack(f"block {deployed_block} lies too far back to read {contract} from there at once")


def read_columns(state: CageState) -> dict[str, int]:
    """The contract's figures as columns of the PolicyCage row; of a limit that a former version lacks, none."""
    columns = {name: state.limit(limit) for name, limit in COLUMNS.items()}
    told = {name: value for name, value in columns.items() if value or COLUMNS[name] is not Limit.MIN_RANGE_TICKS}
    return {**told, "allows_arbitrary_calldata": bool(state.limit(Limit.ALLOWS_ARBITRARY_CALLS))}


def hash_rules(state: CageState) -> str:
    """SHA-256 of every rule, high-water mark and phase included, so that a policy's hash moves when one does."""
    return hash_canonical({f"{kind}:{key}": str(value) for (kind, key), value in state.rules.items()})


def list_allowed(state: CageState, kind: RuleKind) -> list[tuple[str, int]]:
    """(key, value) of every rule of one kind, keys as 0x-hex of 32 bytes."""
    return sorted((key, value) for (of, key), value in state.rules.items() if of == kind)


def is_behind(mirror: CageMirror, *, now: datetime) -> bool:
    """Whether nobody saw this mirror at the chain's newest block lately."""
    if mirror.synced_at is None:
        return True
    longest = timedelta(seconds=settings.GOLEM_CAGE_MIRROR_MAX_AGE_SECONDS)
    return not -AHEAD <= now - mirror.synced_at <= longest


def _replay(chain: ChainReader, base: MirrorPoint, logs: Sequence[LogEntry]) -> list[MirrorPoint]:
    points: list[MirrorPoint] = []
    state, block = base.state, None
    for log in sorted(logs, key=lambda log: (log.block_number, log.log_index)):
        event = decode_cage_event(log)
        if event is None:
            continue
        if block is None or block.number != log.block_number:
            block = chain.block_at(log.block_number)
            state = CageState.from_dict(state.as_dict())
            points.append(_point(block, state))
        state.apply_event(event, block_time=block.timestamp)
    return points


def _point(block: BlockRef, state: CageState) -> MirrorPoint:
    return MirrorPoint(block.number, block.hash, block.timestamp, state)


def _still_holds(chain: ChainReader, point: MirrorPoint) -> bool:
    return point.block_number <= chain.block.number and _holds(chain, point.block_number, point.block_hash)


def _holds(chain: ChainReader, number: int, block_hash: str) -> bool:
    try:
        return chain.block_at(number).hash == block_hash
    except BlockUnavailable:
        return False
