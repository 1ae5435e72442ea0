"""Keys that may take so much of a token a day from a golem's Safe, as Safe's allowance module tells them now.

The module holds whoever has such a key to it. The Safe's owners give and end it by their own signatures.
"""

from __future__ import annotations

from dataclasses import dataclass

from archetypes_app.models import Golem
from permits_app.custody.agreed_safe import find_agreed_safe
from permits_app.models import CageMirror
from permits_app.policy_cage.safe_watch import read_safe_state
from tools_app.core.errors import GolemError
from tools_app.core.units import format_units
from tools_app.standards.paused_tokens import StillReads
from tools_app.standards.safe_allowance import ADDRESS, CHAINS, COIN, KeyAllowance, is_module_on, read_allowances
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.result import TokenAmount
from tools_app.toolkit.views import TokenMeta
from tools_app.wording.formats import format_seconds

MAY_ACT = "it may act"


@dataclass(frozen=True, slots=True)
class AllowingSafe:
    """The Safe that a golem acts through, or whose module its cage is, and whether its chain has the module."""

    chain_id: int
    account: str
    has_module: bool


@dataclass(frozen=True, slots=True)
class AllowedKey:
    """One key and one token. `left` is None where the token cannot be read; `reason` says why the key may not act."""

    safe: str
    allowance: KeyAllowance
    permission: str
    left: TokenAmount | None
    is_active: bool
    reason: str


def find_allowing_safe(golem: Golem) -> AllowingSafe | None:
    """None for a golem without a Safe. Reads rows; asks no node."""
    agreed = find_agreed_safe(golem)
    mirror: CageMirror | None = getattr(getattr(golem, "policy_cage", None), "mirror", None)
    account = agreed.account if agreed is not None else mirror.account if mirror is not None else ""
    return AllowingSafe(golem.home_chain_id, account, golem.home_chain_id in CHAINS) if account else None


def read_allowed(chain: ChainReader, safe: AllowingSafe) -> tuple[AllowedKey, ...]:
    """Those of a Safe on the reader's chain, none where the module is not. Raises what a node raises."""
    if not is_module_on(chain):
        return ()
    given = read_allowances(chain, safe.account)
    if not given:
        return ()
    state = read_safe_state(chain, safe.account)
    is_enabled = state is not None and ADDRESS in state.modules
    stopped = dict.fromkeys((each.token for each in given), "" if is_enabled else "its module is none of the Safe's")
    if is_enabled:
        reads = StillReads.of(chain.chain_id, ((token, safe.account) for token in stopped))
        still = reads.read(chain.call_many(reads.calls) if reads.calls else ())
        stopped = {token: still.say(token, safe.account) for token in stopped}
    return tuple(_describe(chain, safe.account, each, stopped[each.token]) for each in given)


def find_allowed_token(chain: ChainReader, given: KeyAllowance) -> TokenMeta:
    """What the allowance is of. Raises TokenNotFound."""
    return chain.native() if given.token == COIN else chain.token(given.token)


def say_allowance(token: TokenMeta, given: KeyAllowance) -> str:
    """In words, such as 25 USDC in each 24 h."""
    every = f"in each {format_seconds(given.minutes * 60)}" if given.minutes else "once"
    return f"{format_units(given.amount, token.decimals, token.symbol)} {every}"


def _describe(chain: ChainReader, safe: str, given: KeyAllowance, stopped: str) -> AllowedKey:
    """`stopped` says why nobody takes anything of this token by the module."""
    reason = stopped or MAY_ACT
    if not stopped and not given.left:
        reason = "its amount is used up until the next period" if given.minutes else "its amount is used up"
    try:
        token = find_allowed_token(chain, given)
    except GolemError as error:
        words = f"at most {given.amount} base units of {given.token} in each {given.minutes} minutes"
        return AllowedKey(safe, given, words, None, False, f"its token cannot be read now: {error.code}")
    return AllowedKey(
        safe=safe,
        allowance=given,
        permission=f"at most {say_allowance(token, given)}, to whomever it likes",
        left=TokenAmount(given.left, token),
        is_active=reason == MAY_ACT,
        reason=reason,
    )
