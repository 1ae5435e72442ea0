"""Checks whether a delegation stands: not disabled, its nonce the giver's, its signature good; and how much is left of
it, which is nothing while its token stands still.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from tools_app.protocols.metamask.addresses import MANAGER, NONCE, PERIOD, REDEEMER, TIMESTAMP, VALUE, place_on
from tools_app.protocols.metamask.grants import open_terms, read_grant, read_terms
from tools_app.standards import erc20
from tools_app.standards.erc1271 import IS_VALID_SIGNATURE
from tools_app.standards.paused_tokens import StillReads
from tools_app.toolkit.context import ReadCall, ReadOutcome
from tools_app.toolkit.others_money import GrantRead, RightStanding, RightView
from tools_app.toolkit.positions import PositionsUnreadable

DISABLED: Final = "function disabledDelegations(bytes32 hash) view returns (bool)"
NONCE_OF: Final = "function currentNonce(address manager, address delegator) view returns (uint256)"
AVAILABLE: Final = (
    "function getAvailableAmount(bytes32 hash, address manager, bytes terms)"
    " view returns (uint256 available, bool isNewPeriod, uint256 period)"
)
TERMS: Final = MappingProxyType(
    {
        TIMESTAMP: "function getTermsInfo(bytes terms) view returns (uint128 after, uint128 before)",
        REDEEMER: "function getTermsInfo(bytes terms) view returns (address[])",
        VALUE: "function getTermsInfo(bytes terms) view returns (uint256)",
    }
)
"""What enforcers of which nothing else is asked read in their terms: one that is silent lets nobody redeem."""
OWNER_STEP: Final = "In the wallet that gave it: wallet_revokeExecutionPermission, or disable the delegation."
_YES: Final = "1626ba7e"


class Delegations:
    """Rights that owners gave by delegations."""

    def read_grant(self, *, chain_id: int, given: str, holder: str) -> GrantRead:
        """What a permission context grants. Raises GrantUnsafe."""
        return read_grant(chain_id=chain_id, given=given, holder=holder)

    def say_end(self, right: RightView) -> str:
        """Only who gave a delegation can disable it."""
        return OWNER_STEP

    def ask(self, right: RightView) -> list[ReadCall]:
        """Five questions, one for each enforcer besides, and three where an issuer may stop the token; in one batch."""
        at, given = place_on(right.chain_id), open_terms(right.terms)
        terms = read_terms(given, at)
        digest = given.digest(chain_id=right.chain_id, at=at)
        named = bytes.fromhex(given.hash[2:])
        return [
            ReadCall(at[MANAGER], DISABLED, (named,)),
            ReadCall(at[NONCE], NONCE_OF, (at[MANAGER], given.delegator)),
            ReadCall(given.delegator, IS_VALID_SIGNATURE, (digest, given.signature)),
            ReadCall(at[PERIOD], AVAILABLE, (named, at[MANAGER], terms[PERIOD])),
            erc20.balance_call(right.token, given.delegator),
            *(ReadCall(at[key], TERMS[key], (terms[key],)) for key in TERMS if key in terms),
            *_ask_still(right).calls,
        ]

    def judge(self, right: RightView, outcomes: Sequence[ReadOutcome]) -> RightStanding:
        """The first reason why it does not stand, or gives nothing. Raises PositionsUnreadable."""
        asked = _ask_still(right)
        disabled, nonce, signed, available, held, *others = outcomes
        enforcers, still = others[: len(others) - len(asked.calls)], others[len(others) - len(asked.calls) :]
        given = open_terms(right.terms)
        if not all(each.ok for each in (disabled, nonce, available, held, *enforcers)):
            raise PositionsUnreadable("the delegation manager, an enforcer or the token does not answer")
        if disabled.values[0]:
            return RightStanding(False, 0, "its giver disabled the delegation")
        if nonce.values[0] != int.from_bytes(read_terms(given, place_on(right.chain_id))[NONCE], "big"):
            return RightStanding(False, 0, "its giver took back everything given under that nonce")
        if not signed.ok or bytes(signed.values[0]).hex() != _YES:
            return RightStanding(False, 0, "its giver's account does not honour it, or is no smart account any more")
        if why := asked.read(still).say(right.token, right.principal, right.holder):
            return RightStanding(True, 0, why)
        return RightStanding(True, min(available.values[0], held.values[0]))


def _ask_still(right: RightView) -> StillReads:
    """Whether its token moves from who gave it to who holds it."""
    return StillReads.of(right.chain_id, [(right.token, right.principal), (right.token, right.holder)])
