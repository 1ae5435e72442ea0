"""Reads what is told of operators and services: who there is, what is delegated to them, where they serve, their
slashes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from tools_app.chain.abi_records import AbiEvent
from tools_app.protocols.eigenlayer.addresses import DELEGATION, MAGNITUDES, strategies
from tools_app.protocols.eigenlayer.math import WAD
from tools_app.protocols.eigenlayer.reads import MAGNITUDE, NOBODY
from tools_app.standards.read_all_or_fail import read_all
from tools_app.standards.vault_logs import DAY_SECONDS
from tools_app.toolkit.answer import Told
from tools_app.toolkit.context import ChainReader, ReadCall

T = TypeVar("T")

LOOK_BACK_DAYS: Final = 90
MOST_LISTED: Final = 20
DELEGATED: Final = "event StakerDelegated(address indexed staker, address indexed operator)"
OPERATOR_SLASHED: Final = (
    "event OperatorSlashed(address operator, (address avs, uint32 id) operatorSet, address[] strategies,"
    " uint256[] wadSlashed, string description)"
)
SERVICE_NAMED: Final = "event AVSMetadataURIUpdated(address indexed avs, string metadataURI)"
IS_OPERATOR: Final = "function isOperator(address operator) view returns (bool)"
APPROVER: Final = "function delegationApprover(address operator) view returns (address)"
OPERATOR_SHARES: Final = "function operatorShares(address operator, address strategy) view returns (uint256)"
SETS: Final = "function getRegisteredSets(address operator) view returns ((address avs, uint32 id)[] sets)"
SET_COUNT: Final = "function getOperatorSetCount(address avs) view returns (uint256)"
MEMBERS: Final = "function getMembers((address avs, uint32 id) operatorSet) view returns (address[] operators)"


@dataclass(frozen=True, slots=True)
class _DelegatedTo:
    operator: str


@dataclass(frozen=True, slots=True)
class _OperatorSet:
    avs: str


@dataclass(frozen=True, slots=True)
class _SlashLogged:
    operator: str
    operator_set: _OperatorSet
    strategies: tuple[str, ...]
    wad_slashed: tuple[int, ...]
    description: str


@dataclass(frozen=True, slots=True)
class _ServiceNamed:
    avs: str
    metadata_uri: str


_DELEGATED: Final = AbiEvent(DELEGATED, _DelegatedTo)
_SLASHED: Final = AbiEvent(OPERATOR_SLASHED, _SlashLogged)
_NAMED: Final = AbiEvent(SERVICE_NAMED, _ServiceNamed)


class OperatorSlash(Told):
    """One slash of an operator: the block, who did it, what of each strategy went (of 10^18), and the reason given."""

    block_number: int
    service: str
    strategies: tuple[str, ...]
    slashed_wad: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Operator:
    """Whether it is one and takes anybody; shares and what slashes left (of 10^18) by strategy; where it serves."""

    address: str
    is_operator: bool
    is_open: bool
    shares: Mapping[str, int]
    magnitudes: Mapping[str, int]
    services: tuple[str, ...]

    @property
    def risk(self) -> str:
        """None that can be slashed: serves nobody. Medium: it was slashed. Low: else."""
        if any(left < WAD for left in self.magnitudes.values()):
            return "medium"
        return "low" if self.services else "none"


@dataclass(frozen=True, slots=True)
class Service:
    """A service, where it describes itself, and how many operators are in its sets."""

    address: str
    metadata_uri: str
    operator_count: int


def _list_told(reader: ChainReader, contract: str, event: AbiEvent[T]) -> list[tuple[int, T]]:
    """Blocks and records of an event in the days that are looked at, oldest first."""
    logs = reader.logs(
        address=contract,
        topics=[event.topic],
        from_block=reader.first_block_since(reader.block.timestamp - LOOK_BACK_DAYS * DAY_SECONDS).number,
        to_block=reader.block.number,
    )
    told = ((log.block_number, event.read(log)) for log in logs)
    return [(number, each) for number, each in told if each is not None]


def read_operators(reader: ChainReader, at: Mapping[str, str], addresses: Sequence[str]) -> list[Operator]:
    """What the contracts tell of each, in two batches at most."""
    known = strategies(at)
    asked: list[ReadCall] = []
    for one in addresses:
        asked += [ReadCall(at[DELEGATION], IS_OPERATOR, (one,)), ReadCall(at[DELEGATION], APPROVER, (one,))]
        asked.append(ReadCall(at[MAGNITUDES], SETS, (one,)))
        asked += [ReadCall(at[DELEGATION], OPERATOR_SHARES, (one, strategy)) for strategy in known]
        asked += [ReadCall(at[MAGNITUDES], MAGNITUDE, (one, strategy)) for strategy in known]
    told = read_all(reader, asked) if asked else []
    size, found = 3 + 2 * len(known), []
    for index, one in enumerate(addresses):
        is_operator, approver, sets, *rest = (values[0] for values in told[index * size : (index + 1) * size])
        shares, magnitudes = rest[: len(known)], rest[len(known) :]
        found.append(
            Operator(
                address=one,
                is_operator=bool(is_operator),
                is_open=str(approver) == NOBODY,
                shares=dict(zip(known, map(int, shares), strict=True)),
                magnitudes=dict(zip(known, map(int, magnitudes), strict=True)),
                services=tuple(sorted({str(avs) for avs, _ in sets})),
            )
        )
    return found


def find_operators(reader: ChainReader, at: Mapping[str, str]) -> list[str]:
    """Whom somebody delegated to in the days that are looked at, newest first, no more than a page."""
    told = _list_told(reader, at[DELEGATION], _DELEGATED)
    return list(dict.fromkeys(each.operator for _, each in reversed(told)))[:MOST_LISTED]


def read_slashes(
    reader: ChainReader, at: Mapping[str, str], operators: Collection[str]
) -> dict[str, list[OperatorSlash]]:
    """Slashes of these operators in the days that are looked at, oldest first."""
    found: dict[str, list[OperatorSlash]] = {each: [] for each in operators}
    for block_number, told in _list_told(reader, at[MAGNITUDES], _SLASHED):
        if told.operator in found:
            found[told.operator].append(
                OperatorSlash(
                    block_number=block_number,
                    service=told.operator_set.avs,
                    strategies=told.strategies,
                    slashed_wad=tuple(map(str, told.wad_slashed)),
                    reason=told.description[:200],
                )
            )
    return found


def read_services(reader: ChainReader, at: Mapping[str, str]) -> list[Service]:
    """Services that described themselves in the days that are looked at, newest first, no more than a page."""
    named: dict[str, str] = {}
    for _, told in reversed(_list_told(reader, at[MAGNITUDES], _NAMED)):
        if len(named) < MOST_LISTED:
            named.setdefault(told.avs, told.metadata_uri[:200])
    counts = read_all(reader, [ReadCall(at[MAGNITUDES], SET_COUNT, (one,)) for one in named]) if named else []
    sets = [
        (one, number)
        for one, values in zip(named, counts, strict=True)
        for number in range(min(int(values[0]), MOST_LISTED))
    ]
    members = read_all(reader, [ReadCall(at[MAGNITUDES], MEMBERS, (each,)) for each in sets]) if sets else []
    serving: dict[str, set[str]] = {one: set() for one in named}
    for (one, _), values in zip(sets, members, strict=True):
        serving[one].update(map(str, values[0]))
    return [Service(one, uri, len(serving[one])) for one, uri in named.items()]
