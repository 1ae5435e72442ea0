"""Who signs a promise, and whether the account's own contract takes that for its signature.

A key signs for itself. A Safe signs where the golem's key is its only owner and no other has to agree: then the key
signs a SafeMessage, and whoever takes the promise asks the Safe (ERC-1271). Before anything is signed the Safe's own
code is run: with its owner's consent noted on it in the simulation alone it must say yes, and without it, no. Anybody
else signs nothing here and is told what would.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from permits_app.custody.signing_route import Carrier, SigningRoute
from permits_app.errors import SafeNeedsOwners, SimulationFailed
from permits_app.hook_rejection import Reject
from permits_app.policy_cage.safe_batches import consent_of
from permits_app.policy_cage.safe_message import APPROVE_HASH, wrap_digest
from tools_app.chain.abi import encode_call
from tools_app.chain.typed_hash import hash_typed_data
from tools_app.core.errors import Recovery
from tools_app.simulation.engine import SimulationRequest, SimulationResult
from tools_app.standards.erc1271 import IS_VALID_SIGNATURE, is_yes
from tools_app.toolkit.plan import Call
from tools_app.toolkit.typed_data import TypedData
from tools_app.toolkit.views import BlockRef

_RULE: Final = "simulator.promise_signer"
_ALONE: Final = "the same action of a golem whose key is its account, or the only owner of its Safe"


def judge_who_signs(route: SigningRoute) -> Reject | None:
    """What speaks against this signer signing for this account. Pure."""
    if route.carrier is Carrier.NONE:
        return None
    if route.carrier not in (Carrier.SAFE, Carrier.OWNERS):
        return Reject(
            rule=_RULE,
            reason=f"{route.signer} acts for {route.account} without a signature of its own that others would take",
            observed=f"an account that acts by {route.carrier.value.lower()}",
            limit="an account that is its own key, or a Safe that the key owns alone",
            would_pass=_ALONE,
            error=SimulationFailed,
            data={"recovery": Recovery.ASK_OWNER, "account": route.account, "signer": route.signer},
        )
    safe = route.safe
    if route.carrier is Carrier.SAFE and safe is not None and safe.owners == (route.signer,) and safe.threshold == 1:
        return None
    owners, threshold = (safe.owners, safe.threshold) if safe is not None else ((), 0)
    return Reject(
        rule=_RULE,
        reason=f"the Safe {route.account} has {len(owners)} owners, of whom {threshold} sign; a promise of the golem's"
        " key alone could be made void or doubled by the others, without anybody here seeing it",
        observed=f"{threshold} of {len(owners)} owners",
        limit="a Safe whose only owner is the golem's key",
        would_pass=f"{_ALONE}; or the Safe's owners sign it themselves",
        error=SafeNeedsOwners,
        data={"safe": route.account, "threshold": str(threshold), "owners": list(owners), "held": [route.signer]},
    )


def judge_safe_says_yes(
    typed: TypedData,
    *,
    route: SigningRoute,
    block: BlockRef,
    run: Callable[[SimulationRequest], SimulationResult],
) -> Reject | None:
    """Whether the Safe's own code would take its owner's consent for its signature, and nothing else for it.

    `run` simulates. Raises what it raises.
    """
    digest = hash_typed_data(typed)
    wrapped = hash_typed_data(wrap_digest(digest, safe=route.account, chain_id=typed.chain_id))
    ask = Call(
        route.account, encode_call(IS_VALID_SIGNATURE, digest, consent_of(route.signer)), 0, "ask the Safe (ERC-1271)"
    )
    consent = Call(route.account, encode_call(APPROVE_HASH, wrapped), 0, "note the owner's consent")
    before, noted, after = run(
        SimulationRequest(chain_id=typed.chain_id, sender=route.signer, calls=(ask, consent, ask), block=block)
    ).calls
    if before.succeeded and is_yes(before.output):
        return _not_taken(route, "the Safe says that it signed what nobody signed", "yes to anything", "no")
    if noted.succeeded and after.succeeded and is_yes(after.output):
        return None
    said = noted.revert_reason or after.revert_reason or "another answer than the standard's"
    return _not_taken(route, f"the Safe would not say that it signed this: {said}", said, "yes, after its owner's word")


def _not_taken(route: SigningRoute, reason: str, observed: str, limit: str) -> Reject:
    return Reject(
        rule="simulator.promise_validity",
        reason=reason,
        observed=observed,
        limit=limit,
        would_pass="the same action once the Safe's owners set Safe's CompatibilityFallbackHandler as its handler",
        error=SimulationFailed,
        data={"recovery": Recovery.ASK_OWNER, "account": route.account},
    )
