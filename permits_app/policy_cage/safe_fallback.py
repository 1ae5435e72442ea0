"""Checks whether others can act for a Safe through its fallback handler.

A Safe hands each call that it does not know on to its handler, and is the caller there whoever called it. The first
code of `LoanCallback` did not ask who that was, and a cage does not either: it is a module and never to be a handler.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from permits_app.policy_cage.safe_tx import (
    DISABLE_MODULE,
    FIRST_MODULE,
    IS_MODULE_ENABLED,
    MODULES,
    SET_HANDLER,
    ZERO_ADDRESS,
)
from permits_app.policy_cage.safe_watch import GET_STORAGE, MOST_MODULES
from tools_app.chain.abi import checksum, encode_call
from tools_app.standards.loan_callback import HANDLER_SLOT, has_open_code
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.plan import Call

CLOSE_SAFE: Final = "close_safe"
"""The kind of the request that closes a Safe."""
SAFE_HANDLER: Final = "safe_fallback_handler"
MULTI_SEND: Final = "safe_multi_send_call_only"
"""What a chain's deployment calls Safe's own contracts."""
_AT_ONCE: Final = 50


@dataclass(frozen=True, slots=True)
class Openings:
    """What of a Safe believes strangers. `handler` is empty where it does not; `is_open`: anybody acts for it now."""

    handler: str = ""
    modules: tuple[str, ...] = ()
    is_open: bool = False

    def __bool__(self) -> bool:
        return bool(self.handler or self.modules)


@dataclass(frozen=True, slots=True)
class Listed:
    """A Safe's handler, and its modules in the order it keeps them."""

    handler: str
    modules: tuple[str, ...]


def read_openings(chain: ChainReader, cages: Mapping[str, Collection[str]]) -> dict[str, Openings]:
    """The openings of each account of `cages`, which names the cages that stand over it; none for what is no Safe.

    Raises what a node raises.
    """
    found: dict[str, Openings] = {}
    accounts = list(cages)
    for some in (accounts[at : at + _AT_ONCE] for at in range(0, len(accounts), _AT_ONCE)):
        listed = {account: one for account, one in zip(some, _list_parts(chain, some), strict=True) if one is not None}
        contracts = sorted({each for one in listed.values() for each in (one.handler, *one.modules)} - {ZERO_ADDRESS})
        chain.preload(contracts=contracts)
        open_codes = frozenset(each for each in contracts if has_open_code(chain.code(each)))
        trusting = {
            account: one.handler
            for account, one in listed.items()
            if one.handler in open_codes or one.handler in cages[account]
        }
        asked = [ReadCall(account, IS_MODULE_ENABLED, (handler,)) for account, handler in trusting.items()]
        acts = dict(zip(trusting, (one.ok and bool(one.values[0]) for one in chain.call_many(asked)), strict=True))
        found |= {
            account: Openings(
                handler=trusting.get(account, ""),
                modules=tuple(each for each in one.modules if each in open_codes),
                is_open=acts.get(account, False),
            )
            for account, one in listed.items()
        }
    return {account: found.get(account, Openings()) for account in cages}


def read_opening(chain: ChainReader, account: str, cages: Collection[str] = ()) -> Openings:
    """The openings of one account."""
    return read_openings(chain, {account: cages})[account]


def plan_closing(
    chain: ChainReader, account: str, openings: Openings, *, handler: str = ZERO_ADDRESS
) -> tuple[Call, ...]:
    """The Safe's calls to itself that take out what is open; modules first, for without them nobody acts.

    `handler` takes the place of a handler that is taken out. Raises what a node raises.
    """
    [listed] = _list_parts(chain, [account])
    calls, left = [], list(listed.modules if listed is not None else ())
    for module in openings.modules:
        if module not in left:
            continue
        place = left.index(module)
        before = left[place - 1] if place else FIRST_MODULE
        left.remove(module)
        calls.append(Call(account, encode_call(DISABLE_MODULE, before, module), 0, f"Take out the module {module}"))
    if openings.handler:
        words = f"Set the fallback handler {handler}" if handler != ZERO_ADDRESS else "Have no fallback handler"
        calls.append(Call(account, encode_call(SET_HANDLER, handler), 0, words))
    return tuple(calls)


def say_opening(account: str, openings: Openings) -> str:
    """One sentence for people, of what anybody can do now or could after one more step."""
    contracts = " and ".join(dict.fromkeys(each for each in (openings.handler, *openings.modules) if each))
    if openings.is_open:
        return (
            f"Anybody, without a key, can take everything out of the Safe {account}: its fallback handler {contracts}"
            " takes what strangers send for the Safe's own word, and acts for the Safe as its module."
        )
    part, other = ("fallback handler", "a module") if openings.handler else ("module", "the fallback handler")
    return (
        f"The Safe {account} stands one step from being emptied by anybody: its {part} {contracts} takes what strangers"
        f" send for the Safe's own word as soon as it is {other} too."
    )


def say_danger(account: str, openings: Openings) -> str:
    """The same in few words, for an alert."""
    if openings.is_open:
        return f"anybody can take everything out of the Safe {account}"
    return f"the Safe {account} stands one step from being emptied by anybody"


def _list_parts(chain: ChainReader, accounts: Sequence[str]) -> list[Listed | None]:
    asked = [
        call
        for account in accounts
        for call in (
            ReadCall(account, GET_STORAGE, (HANDLER_SLOT, 1)),
            ReadCall(account, MODULES, (FIRST_MODULE, MOST_MODULES)),
        )
    ]
    outcomes = iter(chain.call_many(asked))
    found: list[Listed | None] = []
    for slot, modules in zip(outcomes, outcomes, strict=True):
        if not (slot.ok and modules.ok):
            found.append(None)
            continue
        listed, _ = modules.values
        handler = checksum("0x" + slot.values[0][-20:].hex())
        found.append(Listed(handler, tuple(checksum(each) for each in listed)))
    return found
