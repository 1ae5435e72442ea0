"""What is read of the staker: which positions lie there for an account, in which incentives, and what these owe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from tools_app.chain.abi import encode_event_topics, event_topic
from tools_app.chain.abi_records import AbiEvent
from tools_app.chain.networks import KNOWN_NETWORKS, ChainNotSupported
from tools_app.chain.node_errors import LogRangeTooWide
from tools_app.protocols.uniswap.addresses import UniswapDeployment
from tools_app.protocols.uniswap.errors import IncentiveNotFound
from tools_app.protocols.uniswap.liquidity_mining.addresses import CHAINS, MiningContracts, mining_on
from tools_app.protocols.uniswap.liquidity_mining.deposits import DEPOSIT_MOVED, DEPOSITS, DEPOSITS_MOVED
from tools_app.protocols.uniswap.liquidity_mining.incentives import IncentiveKey
from tools_app.protocols.uniswap.pool_addresses import v3_pool_address
from tools_app.protocols.uniswap.v3.positions import POSITIONS
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.markets import PositionNotFound
from tools_app.toolkit.views import LogEntry

_STAKES: Final = "function stakes(uint256,bytes32) view returns (uint160 inside, uint128 liquidity)"
_INCENTIVES: Final = (
    "function incentives(bytes32) view returns (uint256 unclaimed, uint160 secondsClaimed, uint96 numberOfStakes)"
)
_REWARDS: Final = "function rewards(address,address) view returns (uint256)"
_OWED: Final = (
    "function getRewardInfo((address,address,uint256,uint256,address),uint256) view returns (uint256 reward, uint160)"
)
OPENED: Final = (
    "event IncentiveCreated(address indexed rewardToken, address indexed pool, uint256 startTime, uint256 endTime,"
    " address refundee, uint256 reward)"
)
STAKED: Final = "event TokenStaked(uint256 indexed tokenId, bytes32 indexed incentiveId, uint128 liquidity)"
Weigh: TypeAlias = Callable[[str, int], int | None]
"""Micro-USD of base units of a token; None where it has no price."""
RANGES: Final = 16
"""So many ranges of blocks are searched backwards for logs; what lies before is named by its parts."""
MOST_LOOKED_AT: Final = 20
"""So many running incentives of a pool are asked what is left in them: those that were opened with most."""


@dataclass(frozen=True, slots=True)
class Stake:
    """A position's stake in one incentive, and base units of its token that are owed for it now."""

    key: IncentiveKey
    owed: int


@dataclass(frozen=True, slots=True)
class StakedDeposit:
    """A position that lies at the staker. `unknown` counts its stakes in incentives whose parts nobody told."""

    position_id: str
    pool: str
    liquidity: int
    stakes: tuple[Stake, ...]
    unknown: int


@dataclass(frozen=True, slots=True)
class StakerAccount:
    """All that an account has at the staker; `credited` is what earlier stakes brought and nobody fetched, by token.

    `known_since` is the block from which on logs were read.
    """

    deposits: tuple[StakedDeposit, ...]
    credited: dict[str, int]
    known_since: int


@dataclass(frozen=True, slots=True)
class Running:
    """An incentive that runs: base units that are left in it, and how many positions share them."""

    key: IncentiveKey
    left: int
    stakes: int


def contracts_on(chain_id: int) -> MiningContracts:
    """The staker of a chain. Raises ChainNotSupported."""
    found = mining_on(chain_id)
    if found is None:
        raise ChainNotSupported(
            f"no staker of Uniswap is known on chain {chain_id}", chain_id=chain_id, chains=sorted(CHAINS)
        )
    return found


def since(reader: ChainReader) -> int:
    """The first block whose logs are read."""
    return max(0, reader.block.number - KNOWN_NETWORKS[reader.chain_id].max_log_range * RANGES + 1)


@dataclass(frozen=True, slots=True)
class _Opened:
    reward_token: str
    pool: str
    start_time: int
    end_time: int
    refundee: str
    reward: int

    @property
    def key(self) -> IncentiveKey:
        return IncentiveKey(self.reward_token, self.pool, self.start_time, self.end_time, self.refundee)


@dataclass(frozen=True, slots=True)
class _Staked:
    incentive_id: bytes


_OPENED: Final = AbiEvent(OPENED, _Opened)
_STAKED: Final = AbiEvent(STAKED, _Staked)


def list_deposited(reader: ChainReader, account: str) -> list[str]:
    """Ids of positions that came to the staker for `account`, the newest first; some may have left it."""
    topics = encode_event_topics(DEPOSIT_MOVED, newOwner=account)
    told = DEPOSITS_MOVED.list(reversed(_logs(reader, topics)))
    return list(dict.fromkeys(str(each.token_id) for each in told))


def read_mined(
    reader: ChainReader,
    place: UniswapDeployment,
    account: str,
    ids: Sequence[str],
    *,
    named: Iterable[IncentiveKey] = (),
) -> StakerAccount:
    """What `account` has at the staker of the positions `ids`; those of others and those that left are left out."""
    staker = contracts_on(reader.chain_id).staker
    calls = [(staker, DEPOSITS), (place.v3_position_manager, POSITIONS)]
    outcomes = reader.call_many([ReadCall(to, signature, (int(each),)) for each in ids for to, signature in calls])
    own: list[tuple[str, int, str, int]] = []
    for index, position_id in enumerate(ids):
        kept, record = outcomes[2 * index : 2 * index + 2]
        if kept.ok and record.ok and kept.values[0] == account:
            _, _, token0, token1, fee, _, _, liquidity, *_ = record.values
            pool = v3_pool_address(place.v3_factory, token0, token1, fee)
            own.append((position_id, int(kept.values[1]), pool, int(liquidity)))
    keys = _find_keys(reader, own, tuple(named))
    pairs = [(each[0], key) for each in own for key in keys if key.pool == each[2]]
    tokens = list(dict.fromkeys(key.reward_token for key in keys))
    told = reader.call_many(
        [
            *(ReadCall(staker, _STAKES, (int(number), key.id)) for number, key in pairs),
            *(ReadCall(staker, _OWED, (key.parts, int(number))) for number, key in pairs),
            *(ReadCall(staker, _REWARDS, (token, account)) for token in tokens),
        ]
    )
    staked: dict[str, list[Stake]] = {}
    for (number, key), stake, owed in zip(pairs, told[: len(pairs)], told[len(pairs) :], strict=False):
        if stake.ok and stake.values[1]:
            # A pool that a key invents may refuse to tell; then nothing is promised of it.
            staked.setdefault(number, []).append(Stake(key, int(owed.values[0]) if owed.ok else 0))
    deposits = tuple(
        StakedDeposit(number, pool, liquidity, tuple(staked.get(number, ())), count - len(staked.get(number, ())))
        for number, count, pool, liquidity in own
    )
    credited = {
        token: int(each.values[0]) if each.ok else 0 for token, each in zip(tokens, told[2 * len(pairs) :], strict=True)
    }
    return StakerAccount(deposits, credited, since(reader))


def read_own_deposit(
    reader: ChainReader, place: UniswapDeployment, account: str, position_id: str, *, named: Iterable[IncentiveKey] = ()
) -> tuple[StakedDeposit, StakerAccount]:
    """One position that lies at the staker for `account`. Raises PositionNotFound, IncentiveNotFound."""
    found = read_mined(reader, place, account, [position_id] if int(position_id) < 2**256 else [], named=named)
    if not found.deposits:
        raise PositionNotFound(f"this account has no position {position_id} at the staker", position_id=position_id)
    (deposit,) = found.deposits
    check_known(deposit, found)
    return deposit, found


def check_known(deposit: StakedDeposit, found: StakerAccount) -> None:
    """Raises IncentiveNotFound where a stake's incentive is not told by the logs that were read."""
    if deposit.unknown:
        raise IncentiveNotFound(
            f"position {deposit.position_id} is staked in {deposit.unknown} incentives that no log since block"
            f" {found.known_since} tells; name one by its parts",
            position_id=deposit.position_id,
            known_since=found.known_since,
        )


def list_running(
    reader: ChainReader, pool: str, *, now: int, weigh: Weigh, named: IncentiveKey | None = None
) -> list[Running]:
    """Incentives of a pool in which something is left, the best first. `weigh` is micro-USD of base units of a token;
    one that has no price is not looked at unless it is `named`: anybody opens incentives in anything.
    """
    staker = contracts_on(reader.chain_id).staker
    opened: dict[IncentiveKey, int] = {}
    for log in _logs(reader, encode_event_topics(OPENED, pool=pool)) if named is None else ():
        told = _OPENED.read(log)
        if told is not None:
            opened[told.key] = opened.get(told.key, 0) + told.reward
    if named is not None and named.pool == pool:
        opened[named] = 1
    rates = {
        key: (weigh(key.reward_token, raw) or 0) // (key.ends_at - key.starts_at)
        for key, raw in opened.items()
        if key.starts_at <= now < key.ends_at
    }
    wanted = sorted((key for key in rates if rates[key] or key == named), key=lambda key: -rates[key])[:MOST_LOOKED_AT]
    answers = reader.call_many([ReadCall(staker, _INCENTIVES, (key.id,)) for key in wanted]) if wanted else []
    found = [
        Running(key, int(each.values[0]), int(each.values[2]))
        for key, each in zip(wanted, answers, strict=True)
        if each.ok and each.values[0]
    ]
    return sorted(found, key=lambda each: -(weigh(each.key.reward_token, each.left) or 0) // (each.key.ends_at - now))


def _find_keys(
    reader: ChainReader, own: Sequence[tuple[str, int, str, int]], named: tuple[IncentiveKey, ...]
) -> list[IncentiveKey]:
    """Those that the positions were staked in, by logs that only who owns them can cause, and those `named`."""
    staked = [each for each in own if each[1]]
    known = {key.id: key for key in named}
    numbers = tuple("0x" + int(each[0]).to_bytes(32, "big").hex() for each in own)
    if not numbers:
        return list(known.values())
    wanted = {told.incentive_id for told in _STAKED.list(_logs(reader, [event_topic(STAKED), numbers]))} - known.keys()
    pools = tuple(dict.fromkeys("0x" + each[2][2:].lower().rjust(64, "0") for each in (staked or own)))
    for log in _logs_of_openings(reader, pools) if wanted else ():
        told = _OPENED.read(log)
        if told is not None and told.key.id in wanted:
            known[told.key.id] = told.key
    return list(known.values())


def _logs_of_openings(reader: ChainReader, pools: tuple[str, ...]) -> list[LogEntry]:
    """Anybody opens incentives, and of so many that nobody tells them all none is known: they are named then."""
    try:
        return _logs(reader, [event_topic(OPENED), None, pools])
    except LogRangeTooWide:
        return []


def _logs(reader: ChainReader, topics: Sequence[str | tuple[str, ...] | None]) -> list[LogEntry]:
    staker = contracts_on(reader.chain_id).staker
    return reader.logs(address=staker, topics=topics, from_block=since(reader), to_block=reader.block.number)
