"""The whole Safe behind a cage: who signs for it, what else acts for it, and what has changed since its owners looked.

A module, a guard or a handler that is not the cage may move what the cage guards, and no rule of the cage bounds it. So
all of them are read with every look of the mirror. Reading asks the chain; judging is pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from permits_app.policy_cage.safe_tx import OWNERS, THRESHOLD, ZERO_ADDRESS
from tools_app.chain.abi import checksum
from tools_app.chain.running_code import RunningCode, hash_code, read_running_code
from tools_app.core.stored_json import read_stored, write_stored
from tools_app.standards.loan_callback import CODE_HASH as LOAN_CODE_HASH
from tools_app.standards.loan_callback import HANDLER_SLOT, has_open_code
from tools_app.standards.safe_allowance import ADDRESS as ALLOWANCE_MODULE
from tools_app.toolkit.context import ChainReader, ReadCall

MODULES: Final = (
    "function getModulesPaginated(address start, uint256 pageSize) view returns (address[] array, address next)"
)
GET_STORAGE: Final = "function getStorageAt(uint256 offset, uint256 length) view returns (bytes)"
GUARD_SLOT: Final = 0x4A204F620C8C5CCDCA3FD54D003BADD85BA500436A431F0CBDA4F558C93C34C8
MODULE_GUARD_SLOT: Final = 0xB104E0B93118902C651344349B610029D694CFDEC91C589C91EBAFBCD0289947
"""keccak256 of the names that Safe gives the slots of its guard and its modules' guard."""
SENTINEL: Final = "0x" + "00" * 19 + "01"
MOST_MODULES: Final = 50
_TOO_MUCH: Final = "code behind what acts for it"


@dataclass(frozen=True, slots=True)
class SafeState:
    """A Safe at one block. Addresses of owners and modules in order; the zero address where nothing is set.

    `lender` is the module that runs what happens within a loan, where its code is the product's own. `code` is whose
    code the Safe runs, from its first slot; `has_more_modules` says that there are more than were read.
    """

    owners: tuple[str, ...]
    threshold: int
    modules: tuple[str, ...]
    guard: str
    module_guard: str
    handler: str
    code: str
    lender: str = ZERO_ADDRESS
    has_more_modules: bool = False
    open_codes: tuple[str, ...] = ()
    """Of handler and modules those whose code takes strangers' calls for the Safe's own."""
    runs: tuple[tuple[str, str], ...] = ()
    """What runs behind modules, guards and handler: what of which address, and its hash or whom a proxy names."""

    def as_dict(self) -> dict[str, object]:
        """JSON-ready."""
        return write_stored(self)

    def write_runs(self) -> list[list[str]]:
        """What runs behind what acts for it, as JSON."""
        return [list(pair) for pair in self.runs]

    @classmethod
    def from_dict(cls, kept: Mapping[str, object]) -> SafeState:
        """Read the state that `as_dict` wrote. Raises ValueError naming the field that is none of its type."""
        return read_stored(cls, kept)


@dataclass(frozen=True, slots=True)
class Change:
    """One thing about a Safe that is another than before; `is_weaker` where more can happen past the cage."""

    what: str
    before: str
    after: str
    is_weaker: bool


def read_safe_state(chain: ChainReader, account: str) -> SafeState | None:
    """The Safe at the reader's block; None for what is no Safe. Raises what a node raises."""
    slots = (GUARD_SLOT, MODULE_GUARD_SLOT, HANDLER_SLOT, 0)
    outcomes = chain.call_many(
        [
            ReadCall(account, OWNERS),
            ReadCall(account, THRESHOLD),
            ReadCall(account, MODULES, (SENTINEL, MOST_MODULES)),
            *(ReadCall(account, GET_STORAGE, (slot, 1)) for slot in slots),
        ]
    )
    if not all(outcome.ok for outcome in outcomes):
        return None
    (owners,), (threshold,), (modules, after), *words = (outcome.values for outcome in outcomes)
    guard, module_guard, handler, code = (checksum("0x" + word[0][-20:].hex()) for word in words)
    listed = tuple(sorted(checksum(module) for module in modules))
    acting = sorted({*listed, guard, module_guard, handler} - {ZERO_ADDRESS})
    runs = read_runs(chain, acting)
    lenders = [one for one in listed if hash_code(chain.code(one)) == LOAN_CODE_HASH]
    parts = sorted({*listed, handler} - {ZERO_ADDRESS})
    return SafeState(
        owners=tuple(sorted(checksum(owner) for owner in owners)),
        threshold=int(threshold),
        modules=listed,
        guard=guard,
        module_guard=module_guard,
        handler=handler,
        code=code,
        lender=lenders[0] if lenders else ZERO_ADDRESS,
        has_more_modules=checksum(after) not in (SENTINEL, ZERO_ADDRESS),
        open_codes=tuple(one for one in parts if has_open_code(chain.code(one))),
        runs=runs,
    )


def read_runs(chain: ChainReader, acting: Collection[str]) -> tuple[tuple[str, str], ...]:
    """What runs behind each of them now, so that another code behind an address that was agreed to is seen."""
    try:
        found = read_running_code(chain, acting)
    except ValueError as error:
        return ((_TOO_MUCH, str(error)),)
    return tuple(sorted(_list_runs(found)))


def _list_runs(found: RunningCode) -> Iterator[tuple[str, str]]:
    yield from ((f"code of {address}", code) for address, code in found.codes.items())
    yield from ((f"slot {slot:#x} of {address}", f"{word:#066x}") for (address, slot), word in found.slots.items())
    yield from ((f"implementation of beacon {beacon}", named) for beacon, named in found.beacons.items())


def adopt_code(noted: Mapping[str, object], seen: SafeState) -> dict[str, object]:
    """What its owners noted before code was read, with the code that runs there at the first look that reads it."""
    return dict(noted) if "runs" in noted or not noted else {**noted, "runs": seen.write_runs()}


def list_bypasses(state: SafeState, cage: str) -> list[str]:
    """What acts for the Safe, or on what it signs, past the cage: a sentence each, whoever agreed to it."""
    found = [
        f"module {one} does what anybody tells it once it is the fallback handler too"
        if one in state.open_codes
        else f"module {one} pays the keys that its owners allowed something, each up to that, and"
        f" {'no rule of the cage' if cage else 'nothing here'} bounds it"
        if one == ALLOWANCE_MODULE
        else f"module {one} moves whatever it likes, and {'no rule of the cage' if cage else 'nothing here'} bounds it"
        for one in state.modules
        if one not in (cage, state.lender)
    ]
    if state.handler in state.open_codes:
        found.append(f"fallback handler {state.handler} takes what anybody sends the Safe for the Safe's own word")
    if state.handler == cage:
        found.append("its fallback handler is the cage, which then takes what anybody sends for the owners' word")
    if state.has_more_modules:
        found.append(f"it has more than {MOST_MODULES} modules, which nobody read")
    if state.guard != ZERO_ADDRESS:
        found.append(f"guard {state.guard} may refuse what its owners sign, the halt of the cage among it")
    if state.module_guard != ZERO_ADDRESS:
        found.append(f"guard {state.module_guard} may refuse or follow what the cage does")
    if len(state.owners) > 1 and state.threshold == 1:
        found.append(f"each of its {len(state.owners)} owners signs alone")
    return found


def settle_first(state: SafeState, *, known: Collection[str], handlers: Collection[str]) -> SafeState:
    """Decide at the first look which parts of a Safe its owners are taken to agree to: its owners and its code, and
    of modules, guards and handlers only those that this server knows.
    """
    acts = {*known, state.lender}
    return replace(
        state,
        modules=tuple(one for one in state.modules if one in acts),
        guard=state.guard if state.guard in known else ZERO_ADDRESS,
        module_guard=state.module_guard if state.module_guard in known else ZERO_ADDRESS,
        handler=state.handler if state.handler in {*handlers, state.lender} else ZERO_ADDRESS,
        has_more_modules=False,
    )


def list_unagreed(
    seen: SafeState, agreed: SafeState | None, *, known: Collection[str], handlers: Collection[str]
) -> list[Change]:
    """Everything by which more can happen than its owners agreed to. `known` are contracts of ours that act for it,
    `handlers` what answers for it harmlessly; the loan callback is known by its code.
    """
    before = agreed or settle_first(seen, known=known, handlers=handlers)
    harmless = {*known, seen.lender, ZERO_ADDRESS}
    found = [
        change
        for change in list_changes(before, seen)
        if change.is_weaker
        and not (change.what in ("module", "guard", "guard of modules") and change.after in harmless)
        and not (change.what == "fallback handler" and change.after in {"none", seen.lender, *handlers})
    ]
    if seen.has_more_modules and not before.has_more_modules:
        found.append(Change("modules", "none", f"more than {MOST_MODULES}, which nobody read", True))
    return found


def is_told(change: Change, *, cage: str = "") -> bool:
    """Whether owners hear of it: more can happen than before, or keys that they let act for it by the cage or by its
    allowance module do so no more.
    """
    is_gone = change.what == "module" and change.after == "none"
    return change.is_weaker or (is_gone and change.before in (ALLOWANCE_MODULE, cage))


def say_change(change: Change) -> str:
    """A line of it, for people."""
    return f"{change.what}: {change.before} became {change.after}"


def list_changes(before: SafeState, after: SafeState, *, cage: str = "") -> list[Change]:
    """Everything that differs, in the order in which it matters; that the cage became a module is no weakness."""
    found = [Change("module", "none", one, one != cage) for one in after.modules if one not in before.modules]
    found += [Change("module", one, "none", False) for one in before.modules if one not in after.modules]
    found += [Change("owner", "none", one, True) for one in after.owners if one not in before.owners]
    found += [Change("owner", one, "none", False) for one in before.owners if one not in after.owners]
    if before.threshold != after.threshold:
        is_less = after.threshold < before.threshold
        found.append(Change("owners who must sign", str(before.threshold), str(after.threshold), is_less))
    ran = dict(before.runs)
    for what, now in after.runs:
        if (had := ran.get(what, "all of it was read" if what == _TOO_MUCH else now)) != now:
            found.append(Change(what, had, now, True))
    for what, was, is_ in (
        ("code", before.code, after.code),
        ("guard", before.guard, after.guard),
        ("guard of modules", before.module_guard, after.module_guard),
        ("fallback handler", before.handler, after.handler),
    ):
        if was != is_:
            found.append(Change(what, _name(was), _name(is_), True))
    return found


def _name(address: str) -> str:
    return "none" if address == ZERO_ADDRESS else address
