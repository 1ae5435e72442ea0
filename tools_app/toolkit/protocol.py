"""ProtocolDef: everything the product knows of one protocol, as one value in the protocol's own folder.

`tools_app/protocols/<name>/protocol.py` holds it as PROTOCOL. Nothing outside that folder imports a protocol or says
its name: who lists positions, judges plans, suggests an allowlist, names an event or leaves under a halt asks SHELF.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import is_
from typing import Any, Final

from tools_app.toolkit.effects import EffectsReader
from tools_app.toolkit.exit_conditions import ExitCondition, IsAccount, NotAboveZero
from tools_app.toolkit.fee_jars import Jars
from tools_app.toolkit.hooked_pools import HookedPools
from tools_app.toolkit.lending import Lending
from tools_app.toolkit.markets import Markets
from tools_app.toolkit.operator_named_places import Naming
from tools_app.toolkit.orders import Orders
from tools_app.toolkit.others_money import ReceivedRights
from tools_app.toolkit.permit2_in_call import PermitCarrier
from tools_app.toolkit.positions import Exits, PositionRef, Positions, Reads, Trail
from tools_app.toolkit.promises import Promises
from tools_app.toolkit.rates import LoggedRates
from tools_app.toolkit.receipt_token_rates import ClaimPrice, ClaimPrices
from tools_app.toolkit.venues import Venues
from tools_app.toolkit.withdrawal_request_claims import Takings
from tools_app.toolkit.yields import Yields


class Trait(StrEnum):
    """What is special about a protocol's risks."""

    CROSS_CHAIN = "CROSS_CHAIN"
    LEVERAGE = "LEVERAGE"
    HOOKS = "HOOKS"
    ASYNC = "ASYNC"
    POOLED = "POOLED"
    """What an account has there lies in pools, or waits for fillers: what leaves is theirs to settle."""


NOTHING_HELD: Final = "nothing is held there"
"""`Contract.valued_at` of a contract at which an account never has anything."""
NOT_UNDER_A_CAGE: Final = "not under a cage"
"""`Contract.valued_at` of one at which something is held that no valuer can count: no cage is suggested its calls."""


@dataclass(frozen=True, slots=True)
class Valuer:
    """The contract of ours that tells a cage what an account has at `subject`, a key of `deployments`.

    `code` is its name in `contracts/src`, `constructor` its signature, `arguments` reads the values for it by chain
    (raising PositionsUnreadable), and `views` are the calls that tell these values again, in their order.
    """

    subject: str
    code: str
    constructor: str
    arguments: Callable[[int], Reads[tuple[Any, ...]]]  # Any: a value of the ABI's type
    views: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contract:
    """A contract that the protocol's write tools call. `key` is its name in `deployments`, `label` one for people.

    `functions` are the signatures the tools call. `own` are, by function, the places of arguments that must be the
    account (who receives, for whom), and `tokens` those of tokens, of lists of tokens and of packed paths of them;
    places are counted from 0 and downwards into structs. `takes_tokens` is whether it takes tokens by allowance,
    `takes_signed` whether it takes them only for what the account signed, so that an allowance of it may stand,
    `is_token` whether it is itself a token that stands for a position and that plans approve. `valued_at` is the
    subject of the valuer that counts what is held there, NOTHING_HELD or NOT_UNDER_A_CAGE. `besides` are functions that
    the tools call and that no cage is suggested: parts of a bundle of calls, loans within one call, and what gives away
    for good. `empty` are, by function, the places of bytes that must be empty: with any the contract calls the account
    back. `runs_hooks` is whether its pools may run strangers' code: then calls to it are read for the hooks they reach.
    """

    key: str
    label: str
    functions: tuple[str, ...]
    valued_at: str
    takes_tokens: bool = False
    takes_signed: bool = False
    is_token: bool = False
    besides: tuple[str, ...] = ()
    own: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    tokens: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    empty: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    runs_hooks: bool = False

    @property
    def is_place(self) -> bool:
        """Whether something may be held there."""
        return self.valued_at != NOTHING_HELD


@dataclass(frozen=True, slots=True)
class LeavingCall:
    """A call by which a position is left: it only takes out to the account, or pays the account's own debt.

    `key` is the contract's name in `deployments`. `own` are the places of arguments, counted from 0 and downwards into
    structs, that must be the account for that to be so; `never_up` are those that must not be above zero, where the
    same call puts in or borrows as well. `only` are all other conditions (`toolkit/exit_conditions.py`); of a call that
    leaves in several ways each has a `LeavingCall` of its own. `steps` is the place of a list of calls of the same
    contract.
    """

    key: str
    signature: str
    own: tuple[tuple[int, ...], ...] = ()
    steps: int | None = None
    never_up: tuple[tuple[int, ...], ...] = ()
    only: tuple[ExitCondition, ...] = ()

    @property
    def conditions(self) -> tuple[ExitCondition, ...]:
        """Everything that has to be so."""
        return (*map(IsAccount, self.own), *map(NotAboveZero, self.never_up), *self.only)


@dataclass(frozen=True, slots=True)
class RightEvent:
    """A right of the protocol's own: the event that tells it, whom and what it names, and how it is undone.

    Numbers are places of arguments from 0: who gives, who takes, how much (None: everything), over what token (None:
    the whole account).
    `revoke` makes the call that takes it back: (contract, taker, token) -> (signature, arguments); a token that is one
    of a kind is named by its number in decimals.
    `keys` are the contracts that tell it, by their names in `deployments`; none: any of these may. Two standards have
    events that read alike, and mean a token in one and an amount in the other.
    `tellers` reads, by chain, contracts that tell it and are not among the protocol's `deployments`.
    """

    signature: str
    giver: int
    taker: int
    revoke: Callable[[str, str, str | None], tuple[str, tuple[Any, ...]]]  # Any: a value of the ABI's type
    amount: int | None = None
    token: int | None = None
    label: str = ""
    keys: tuple[str, ...] = ()
    tellers: Callable[[int], Reads[tuple[str, ...]]] | None = None


def _nothing_more(chain_id: int, account: str) -> Reads[tuple[tuple[object, ...], ...]]:
    yield []
    return ()


@dataclass(frozen=True, slots=True)
class AskedRight:
    """A right of the protocol's own that no log tells, and that its contract answers for when it is asked.

    `key` is the contract's name in `deployments`, `gives` the signature of the call that gives it, whose arguments name
    it, and `taker` the place of whom among them. `asks` makes the read of it from the account and those arguments: its
    first value is above zero where the right stands. `ends` is the signature of the call that takes it back, and `end`
    makes its arguments from those of the one that gave it; of its own it makes the same. `known` reads, by chain and
    account, arguments that are asked for in any case; others are those of calls that the account is known to have made.
    `is_signed_inside`: a permit that the account signed inside a call of its own gives it too (`permit_carriers`).
    """

    key: str
    gives: str
    taker: int
    asks: Callable[[str, tuple[Any, ...]], tuple[str, tuple[Any, ...]]]  # Any: a value of the ABI's type
    ends: str
    end: Callable[[tuple[Any, ...]], tuple[Any, ...]]  # Any: a value of the ABI's type
    label: str
    is_signed_inside: bool = False
    known: Callable[[int, str], Reads[tuple[tuple[Any, ...], ...]]] = _nothing_more  # Any: a value of the ABI's type


def _no_trails(chain_id: int, account: str) -> Sequence[Trail]:
    return ()


def _is_any(ref: PositionRef) -> bool:
    return True


SIMULATED: Final = " (simulated contract)"
"""Said behind the name of a protocol, a position or a contract that is ours and stands in for the real one."""


@dataclass(frozen=True)
class ProtocolDef:
    """One protocol. `name` is the venue agents say and the first word of its positions; `label` is for people.

    `deployments` maps a chain to its contracts by key, None where it is not. `entry` is the key of the contract whose
    code says that it is there. `simulated_on` are chains where our own contracts stand in for it, labelled so wherever
    it shows. `events`, `errors` and `inner_calls` are signatures that give names to logs, reverts, and what its
    contracts call. `jars` fill with what others pay, and anybody empties them for a price. `received` tells of rights
    over others' money that golems hold there, `promises` read what is signed for others to carry out,
    `permit_carriers` put what is signed for a contract of its own into calls to it, and `orders`
    tell what became of positions that others carry out. `takings` tell who got what was asked for, where others may
    claim it too. `venues` tell what an exchange of two tokens would give
    there. `leaving` is all that a
    halted golem may still sign there. `trails` are, by chain and account, the logs by which positions are found that no
    contract lists; what they tell goes through `positions.born`. `is_only_in_logs` tells which of its positions these
    are, where some of the same kind are listed.
    `yields` tell where a token earns beside what `lending` tells. `rates` read from logs what rates were, `debt_rates`
    what borrowing cost.
    `listed_as` is what lists of yields call it,
    where they mean the same places as we do; without it nothing of a list is compared with it. `prices` tell what its
    own tokens are worth in an asset, where allowances and promises of them are counted.
    `naming` asks the chain about an address that no list of its makers names, for an operator who names it here.
    `hooked` tells of pools that run strangers' code, and what can be tried in them.
    `issues` are the tokens it stands behind: names in `deployments`, or symbols of registered tokens.
    `uncaged` tells owners why no valuer can count what is held at a contract that is NOT_UNDER_A_CAGE. `no_lending` is
    why one that knows debts offers no `lending`: without it no debt there is lowered by the tripwire. `has_doors`:
    places of it say how rules go in and leave at once (`YieldOffer.way_in`), so that an owner may let them choose it.
    `account_code` is the key in `deployments` of code that a plain account may run (EIP-7702): whoever acts through it
    has the account's own signature.
    """

    name: str
    label: str
    deployments: Callable[[int], Mapping[str, str] | None]
    entry: str
    contracts: tuple[Contract, ...] = ()
    valuers: tuple[Valuer, ...] = ()
    positions: Positions | None = None
    exits: Exits | None = None
    effects: EffectsReader | None = None
    promises: Promises | None = None
    permit_carriers: tuple[PermitCarrier, ...] = ()
    received: ReceivedRights | None = None
    orders: Orders | None = None
    takings: Takings | None = None
    markets: Markets | None = None
    jars: Jars | None = None
    venues: Venues | None = None
    hooked: HookedPools | None = None
    naming: Naming | None = None
    lending: Lending | None = None
    yields: Yields | None = None
    rates: LoggedRates | None = None
    debt_rates: LoggedRates | None = None
    listed_as: tuple[str, ...] = ()
    prices: ClaimPrices | None = None
    leaving: tuple[LeavingCall, ...] = ()
    selling: tuple[LeavingCall, ...] = ()
    rights: tuple[RightEvent, ...] = ()
    asked_rights: tuple[AskedRight, ...] = ()
    trails: Callable[[int, str], Sequence[Trail]] = _no_trails
    is_only_in_logs: Callable[[PositionRef], bool] = _is_any
    traits: frozenset[Trait] = frozenset()
    simulated_on: frozenset[int] = frozenset()
    events: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    inner_calls: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    uncaged: str = ""
    no_lending: str = ""
    has_doors: bool = False
    account_code: str = ""

    def list_gaps(self) -> list[str]:
        """What it leaves unsaid of where something is held and of its debts; a shelf takes none with a gap."""
        subjects = {each.subject for each in self.valuers}
        gaps = [
            f"{each.key} is valued at {each.valued_at!r}, which is no subject of its valuers"
            for each in self.contracts
            if each.valued_at not in {*subjects, NOTHING_HELD, NOT_UNDER_A_CAGE}
        ]
        if self.positions is not None and self.contracts and not any(each.is_place for each in self.contracts):
            gaps.append("it tells positions, and none of its contracts says who values what is held there")
        if any(each.valued_at == NOT_UNDER_A_CAGE for each in self.contracts) != bool(self.uncaged):
            gaps.append("`uncaged` says why exactly where a contract is NOT_UNDER_A_CAGE")
        knows_debts = Trait.LEVERAGE in self.traits
        if knows_debts and self.lending is None and not self.no_lending:
            gaps.append("it knows debts and offers no lending, and `no_lending` does not say why")
        if self.lending is not None and (self.no_lending or not knows_debts):
            gaps.append("it offers lending, so it knows debts and needs no reason")
        return gaps

    def address(self, chain_id: int, key: str) -> str | None:
        """One of its contracts on a chain."""
        found = self.deployments(chain_id)
        return found.get(key) if found is not None else None

    def is_on(self, chain_id: int) -> bool:
        """Whether it is known to be on a chain."""
        return bool(self.deployments(chain_id))

    def has_module(self, module: str) -> bool:
        """Whether a module, such as that of a tool's handler, lies in its folder."""
        return module.startswith(self.deployments.__module__.rpartition(".")[0] + ".")

    def is_simulated(self, chain_id: int) -> bool:
        """Whether our own contracts stand in for it on a chain."""
        return chain_id in self.simulated_on

    def owns(self, chain_id: int, address: str) -> bool:
        """Whether `address` is one of its contracts there."""
        found = self.deployments(chain_id)
        return found is not None and address in found.values()


@dataclass(frozen=True, slots=True, eq=False)
class _OnChain:
    """The protocols of a chain in the order of their names, and whose each contract is; worked out once and kept.

    `told` is what each protocol of the shelf said of its contracts there, by which another answer is noticed.
    """

    protocols: tuple[ProtocolDef, ...]
    told: tuple[Mapping[str, str] | None, ...]
    rows: tuple[tuple[ProtocolDef, Mapping[str, str]], ...]
    owners: Mapping[str, ProtocolDef]
    contracts: tuple[tuple[str, Contract], ...]
    valued: Mapping[str, str]


@dataclass
class Shelf:
    """Every protocol, found at start-up. Two of one name stop the start, and one that leaves out what somebody counts
    on. `version` changes with what stands on it.
    """

    _by_name: dict[str, ProtocolDef] = field(default_factory=dict)
    version: int = 0
    _kept: dict[int, _OnChain] = field(default_factory=dict)

    def add(self, protocol: ProtocolDef) -> None:
        """Raises ValueError for a name that is there, and for gaps."""
        if protocol.name in self._by_name:
            raise ValueError(f"two protocols are called {protocol.name!r}")
        if gaps := protocol.list_gaps():
            raise ValueError(f"the protocol {protocol.name!r} is not whole: {'; '.join(gaps)}")
        self._by_name[protocol.name] = protocol
        self.version += 1

    def remove(self, name: str) -> None:
        """Take one away; what a test put there does not outlive it."""
        self._by_name.pop(name, None)
        self.version += 1

    def get(self, name: str) -> ProtocolDef | None:
        """The protocol of a name, or None."""
        return self._by_name.get(name)

    def __iter__(self) -> Iterator[ProtocolDef]:
        return iter(tuple(self._by_name.values()))

    def on(self, chain_id: int) -> Sequence[ProtocolDef]:
        """Those of one chain, in the order of their names."""
        return [protocol for protocol, _ in self._list_on(chain_id)]

    def _list_on(self, chain_id: int) -> tuple[tuple[ProtocolDef, Mapping[str, str]], ...]:
        """The same with each one's contracts there."""
        return self._look_at(chain_id).rows

    def _look_at(self, chain_id: int) -> _OnChain:
        """What stands on a chain. Each protocol is asked; while all answer the same it is not worked out again."""
        protocols = tuple(self._by_name.values())
        told = tuple([each.deployments(chain_id) for each in protocols])
        kept = self._kept.get(chain_id)
        if kept is None or not (_are_same(protocols, kept.protocols) and _are_same(told, kept.told)):
            kept = self._kept[chain_id] = _work_out(protocols, told)
        return kept

    def contracts_on(self, chain_id: int) -> Sequence[tuple[str, Contract]]:
        """What write tools call on a chain: addresses and what is known of them, protocol by protocol."""
        return self._look_at(chain_id).contracts

    def valued_on(self, chain_id: int) -> Mapping[str, str]:
        """Contracts at which something may be held, and the subject of the valuer that would count it: addresses.

        The subject is empty where nobody can count it.
        """
        return self._look_at(chain_id).valued

    def uncaged_on(self, chain_id: int) -> Mapping[str, ProtocolDef]:
        """Contracts of a chain at which something is held that no cage can count, and whose they are."""
        return {
            address: protocol
            for protocol, found in self._list_on(chain_id)
            for contract in protocol.contracts
            if contract.valued_at == NOT_UNDER_A_CAGE and (address := found.get(contract.key)) is not None
        }

    def valuers_on(self, chain_id: int) -> list[tuple[str, Valuer]]:
        """What a chain's positions can be valued by: addresses of subjects, and how their valuers are made."""
        return [
            (address, valuer)
            for protocol, found in self._list_on(chain_id)
            for valuer in protocol.valuers
            if (address := found.get(valuer.subject)) is not None
        ]

    def claims_on(self, chain_id: int) -> frozenset[str]:
        """Tokens of protocols that stand for positions, held already or not: what they are worth the positions tell."""
        return frozenset(address for address, contract in self.contracts_on(chain_id) if contract.is_token)

    def price_claim(self, chain_id: int, token: str) -> ClaimPrice | None:
        """How its protocol prices a token of its own; None for any other."""
        owner = self.of_contract(chain_id, token)
        return owner.prices(chain_id, token) if owner is not None and owner.prices is not None else None

    def find_account_code(self, chain_id: int) -> tuple[str, str] | None:
        """Whose code a plain account may run on a chain (EIP-7702): the protocol's label and the contract; None where
        nobody's is known.
        """
        for protocol, found in self._list_on(chain_id):
            contract = found.get(protocol.account_code) if protocol.account_code else None
            if contract is not None:
                return protocol.label, contract
        return None

    def is_simulated(self, name: str, chain_id: int) -> bool:
        """Whether our own contracts stand in for the protocol of a name; not for one that is not known."""
        found = self.get(name)
        return found is not None and found.is_simulated(chain_id)

    def label_on(self, name: str, chain_id: int) -> str:
        """What people read for the protocol of a name on a chain: its label, and that ours stand in where they do."""
        found = self.get(name)
        label = found.label if found is not None else name
        return f"{label}{SIMULATED}" if self.is_simulated(name, chain_id) else label

    def of_contract(self, chain_id: int, address: str) -> ProtocolDef | None:
        """Whose contract `address` is, or None."""
        return self._look_at(chain_id).owners.get(address)


def _are_same(some: Sequence[object], others: Sequence[object]) -> bool:
    """Whether the same values stand in both, each at its place."""
    return len(some) == len(others) and all(map(is_, some, others))


def _work_out(protocols: tuple[ProtocolDef, ...], told: tuple[Mapping[str, str] | None, ...]) -> _OnChain:
    there = [(each, found) for each, found in zip(protocols, told, strict=True) if found]
    rows = tuple(sorted(there, key=lambda row: row[0].name))
    owners: dict[str, ProtocolDef] = {}
    for protocol, found in rows:
        for address in found.values():
            owners.setdefault(address, protocol)
    contracts, valued = [], {}
    for protocol, found in rows:
        for contract in protocol.contracts:
            at = found.get(contract.key)
            if at is not None:
                contracts.append((at, contract))
                if contract.is_place:
                    valued[at] = found.get(contract.valued_at) or ""
    return _OnChain(protocols, told, rows, owners, tuple(contracts), valued)


SHELF: Final = Shelf()
"""Filled by `load_registry`, which imports every `protocol` module."""
