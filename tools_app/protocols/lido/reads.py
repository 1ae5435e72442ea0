"""Reads for the tools what they need of the pool, the queue and the oracle, each in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.protocols.lido.addresses import LidoContracts
from tools_app.protocols.lido.math import SECONDS_PER_SLOT, SLOTS_PER_EPOCH, StakedPool, estimate_ready
from tools_app.standards import erc20
from tools_app.standards.read_all_or_fail import read_all
from tools_app.toolkit.context import AbiValues, ChainReader, ReadCall

SHARES_OF: Final = "function sharesOf(address account) view returns (uint256)"
TOTAL_SHARES: Final = "function getTotalShares() view returns (uint256)"
TOTAL_ETHER: Final = "function getTotalPooledEther() view returns (uint256)"
BUFFERED: Final = "function getBufferedEther() view returns (uint256)"
STAKING_PAUSED: Final = "function isStakingPaused() view returns (bool)"
STAKE_LIMIT: Final = "function getCurrentStakeLimit() view returns (uint256)"
REQUESTS_OF: Final = "function getWithdrawalRequests(address owner) view returns (uint256[] ids)"
STATUS_OF: Final = (
    "function getWithdrawalStatus(uint256[] ids) view returns ((uint256 amountOfStETH, uint256 amountOfShares,"
    " address owner, uint256 timestamp, bool isFinalized, bool isClaimed)[] statuses)"
)
LAST_REQUEST: Final = "function getLastRequestId() view returns (uint256)"
LAST_CHECKPOINT: Final = "function getLastCheckpointIndex() view returns (uint256)"
HINTS_OF: Final = (
    "function findCheckpointHints(uint256[] ids, uint256 firstIndex, uint256 lastIndex) view returns (uint256[] hints)"
)
CLAIMABLE: Final = "function getClaimableEther(uint256[] ids, uint256[] hints) view returns (uint256[] claimable)"
UNFINALIZED: Final = "function unfinalizedStETH() view returns (uint256)"
QUEUE_PAUSED: Final = "function isPaused() view returns (bool)"
BUNKER: Final = "function isBunkerModeActive() view returns (bool)"
LEAST_REQUEST: Final = "function MIN_STETH_WITHDRAWAL_AMOUNT() view returns (uint256)"
MOST_REQUEST: Final = "function MAX_STETH_WITHDRAWAL_AMOUNT() view returns (uint256)"
CURRENT_FRAME: Final = "function getCurrentFrame() view returns (uint256 refSlot, uint256 deadlineSlot)"
CHAIN_CONFIG: Final = (
    "function getChainConfig() view returns (uint256 slotsPerEpoch, uint256 secondsPerSlot, uint256 genesisTime)"
)
QUORUM: Final = "function getQuorum() view returns (uint256)"
MEMBERS: Final = "function getMembers() view returns (address[] addresses, uint256[] lastReportedRefSlots)"
CONSENSUS_STATE: Final = (
    "function getConsensusState() view returns (uint256 refSlot, bytes32 consensusReport, bool isReportProcessing)"
)
LAST_PROCESSED: Final = "function getLastProcessingRefSlot() view returns (uint256)"
_NO_REPORT: Final = bytes(32)
_FIRST_CHECKPOINT: Final = 1


@dataclass(frozen=True, slots=True)
class Oracle:
    """The oracle's clock. Slots are those of the beacon chain; the frame's report is due until its deadline slot."""

    genesis_time: int
    frame_slot: int
    deadline_slot: int
    processed_slot: int

    @property
    def is_processed(self) -> bool:
        """Whether the current frame's report is in."""
        return self.processed_slot >= self.frame_slot

    @property
    def is_stalled(self) -> bool:
        """Whether a whole frame passed without a report."""
        return self.processed_slot < self.frame_slot - (self.deadline_slot - self.frame_slot)

    @property
    def next_report_at(self) -> int:
        """Unix seconds by which the next report is due."""
        slot = self.deadline_slot if self.is_processed else self.frame_slot
        return self.time_of(slot + 1)

    def time_of(self, slot: int) -> int:
        """Unix seconds at which a slot begins."""
        return self.genesis_time + slot * SECONDS_PER_SLOT

    def epoch_of(self, slot: int) -> int:
        """The epoch a slot lies in."""
        return slot // SLOTS_PER_EPOCH


@dataclass(frozen=True, slots=True)
class Reports:
    """How many members have reported for the current frame, and whether enough agree."""

    reporting: int
    members: int
    quorum: int
    is_reached: bool


@dataclass(frozen=True, slots=True)
class Staking:
    """The pool and what it takes; of an account its shares, its wstETH and what others may take of it."""

    pool: StakedPool
    oracle: Oracle
    is_paused: bool
    limit: int
    shares: int
    wrapped: int
    allowance: int = 0
    is_queue_paused: bool = False


@dataclass(frozen=True, slots=True)
class Queue:
    """The queue's state. Amounts in wei of stETH."""

    queued: int
    buffered: int
    least: int
    most: int
    is_paused: bool
    is_bunker: bool

    def ready_at(self, oracle: Oracle, more: int = 0) -> int | None:
        """When what joins the queue now with `more` wei can be claimed, about."""
        return estimate_ready(
            next_report_at=oracle.next_report_at,
            queued_wei=self.queued + more,
            buffered_wei=self.buffered,
            is_bunker=self.is_bunker,
        )


@dataclass(frozen=True, slots=True)
class Request:
    """One place in the queue. `claimable` is wei that can be had now, 0 until it is final."""

    id: int
    owner: str
    ether: int
    shares: int
    asked_at: int
    is_final: bool
    is_claimed: bool
    hint: int = 0
    claimable: int = 0


def pool_calls(at: LidoContracts) -> list[ReadCall]:
    """Shares and ether of the pool, and the oracle's clock."""
    return [
        ReadCall(at.steth, TOTAL_SHARES),
        ReadCall(at.steth, TOTAL_ETHER),
        ReadCall(at.consensus, CHAIN_CONFIG),
        ReadCall(at.consensus, CURRENT_FRAME),
        ReadCall(at.oracle, LAST_PROCESSED),
    ]


def parse_pool(values: Sequence[AbiValues]) -> tuple[StakedPool, Oracle]:
    """The answers of `pool_calls`."""
    shares, ether, config, frame, processed = values
    return (
        StakedPool(int(shares[0]), int(ether[0])),
        Oracle(int(config[2]), int(frame[0]), int(frame[1]), int(processed[0])),
    )


def read_staking(
    reader: ChainReader, at: LidoContracts, account: str | None, *, allowance: tuple[str, str] | None = None
) -> Staking:
    """The pool and an account's share of it. `allowance` names (token, spender) whose allowance is read too.

    Raises ContractOutputUnexpected, the node's errors.
    """
    head = pool_calls(at)
    calls = [*head, ReadCall(at.steth, STAKING_PAUSED), ReadCall(at.steth, STAKE_LIMIT)]
    calls.append(ReadCall(at.queue, QUEUE_PAUSED))
    if account is not None:
        calls += [ReadCall(at.steth, SHARES_OF, (account,)), erc20.balance_call(at.wsteth, account)]
    if account is not None and allowance is not None:
        calls.append(erc20.allowance_call(allowance[0], account, allowance[1]))
    told = read_all(reader, calls)
    pool, oracle = parse_pool(told[: len(head)])
    paused, limit, queue, *own = told[len(head) :]
    shares, wrapped, allowance_left = [int(each[0]) for each in own] + [0] * (3 - len(own))
    is_paused, is_queue_paused = bool(paused[0]), bool(queue[0])
    return Staking(pool, oracle, is_paused, int(limit[0]), shares, wrapped, allowance_left, is_queue_paused)


def read_queue(reader: ChainReader, at: LidoContracts) -> Queue:
    """The queue as it stands. Raises ContractOutputUnexpected, the node's errors."""
    queue = at.queue
    signatures = (UNFINALIZED, LEAST_REQUEST, MOST_REQUEST, QUEUE_PAUSED, BUNKER)
    calls = [*(ReadCall(queue, each) for each in signatures), ReadCall(at.steth, BUFFERED)]
    queued, least, most, paused, bunker, buffered = (each[0] for each in read_all(reader, calls))
    return Queue(int(queued), int(buffered), int(least), int(most), bool(paused), bool(bunker))


def read_requests(reader: ChainReader, at: LidoContracts, ids: Sequence[int]) -> list[Request]:
    """Requests by id, with what can be claimed. Raises ContractOutputUnexpected for an id that never was."""
    if not ids:
        return []
    asked = sorted(set(ids))
    queue = at.queue
    statuses, last = read_all(reader, [ReadCall(queue, STATUS_OF, (asked,)), ReadCall(queue, LAST_CHECKPOINT)])
    final = [each for each, status in zip(asked, statuses[0], strict=True) if status[4]]
    hints: dict[int, int] = {}
    claimable: dict[int, int] = {}
    if final:
        ((found,),) = read_all(reader, [ReadCall(queue, HINTS_OF, (final, _FIRST_CHECKPOINT, int(last[0])))])
        hints = dict(zip(final, (int(hint) for hint in found), strict=True))
        open_ones = [each for each, status in zip(asked, statuses[0], strict=True) if status[4] and not status[5]]
        if open_ones:
            asked_for = (open_ones, [hints[each] for each in open_ones])
            ((amounts,),) = read_all(reader, [ReadCall(queue, CLAIMABLE, asked_for)])
            claimable = dict(zip(open_ones, (int(amount) for amount in amounts), strict=True))
    return [
        Request(
            each,
            str(status[2]),
            int(status[0]),
            int(status[1]),
            int(status[3]),
            bool(status[4]),
            bool(status[5]),
            hints.get(each, 0),
            claimable.get(each, 0),
        )
        for each, status in zip(asked, statuses[0], strict=True)
    ]


def list_request_ids(reader: ChainReader, at: LidoContracts, account: str) -> list[int]:
    """Ids of the requests an account owns, unclaimed ones only, oldest first."""
    ((ids,),) = read_all(reader, [ReadCall(at.queue, REQUESTS_OF, (account,))])
    return sorted(int(each) for each in ids)


def read_reports(reader: ChainReader, at: LidoContracts, oracle: Oracle) -> Reports:
    """Who has reported for the current frame. Raises ContractOutputUnexpected, the node's errors."""
    consensus = at.consensus
    calls = [ReadCall(consensus, QUORUM), ReadCall(consensus, MEMBERS), ReadCall(consensus, CONSENSUS_STATE)]
    quorum, members, state = read_all(reader, calls)
    reporting = sum(1 for slot in members[1] if int(slot) == oracle.frame_slot)
    return Reports(reporting, len(members[0]), int(quorum[0]), bytes(state[1]) != _NO_REPORT or oracle.is_processed)
