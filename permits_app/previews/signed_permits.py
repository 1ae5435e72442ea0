"""Turns the rights through Permit2 that a plan gives by calls into one permit that the account signs, inside the call
that uses them: a transaction less for each, and nothing is left where that call reverts.

It is signed before the simulation, so that exactly the bytes are simulated that will be signed, and after the hooks
before it agreed. Where no signature can be made the call stays: an account that is a contract (its calls go in one
transaction anyway), what waits for people, a key that signs no typed data, another open permit with the same nonce.

See docs/decisions/0550-permit2-a-permit-is-signed-inside-the-call-that-uses-it.md and, of several tokens,
0556-permit2-several-tokens-are-signed-for-at-once.md.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from django.db.models import Q

from permits_app.custody.sign_permit2 import MOST_SECONDS, sign_inner
from permits_app.custody.signing_route import Carrier
from permits_app.models import ActionPermit
from permits_app.models.permit import OPEN
from permits_app.previews.approval_wait import needs_owners
from permits_app.safety import hook_chain
from permits_app.safety.hook import Allow, HookCall
from permits_app.safety.hooks.simulator import judge_signer
from permits_app.safety.risk_tier_of_call import classify_call
from tools_app.core.errors import GolemError
from tools_app.standards.permit2 import PERMIT2
from tools_app.standards.permit2_in_calldata import Foldable, find_foldable, fold, word_permit

logger = logging.getLogger(__name__)


def sign_inside(call: HookCall) -> HookCall:
    """`call` with its rights through Permit2 signed inside, or as it is. Raises what the chain raises."""
    plan, chain, account = call.plan, call.chain, call.view.address
    if plan is None or chain is None or account is None or call.sent_by.carrier is not Carrier.NONE:
        return call
    found = find_foldable(plan)
    at = max(int(call.now.timestamp()), chain.block.timestamp)
    if found is None or not at < found.until <= at + MOST_SECONDS or _waits(call):
        return call
    if _is_nonce_taken(call, found, chain.chain_id):
        return call
    if judge_signer(route=call.sent_by, chain=chain) is not None:
        return call
    try:
        # What these refuse is signed by nobody; the chain of hooks then says why, and keeps it.
        if not isinstance(hook_chain.decide(call, hook_chain.load_rules(call)), Allow):
            return call
        permit = word_permit(found, account=account, chain=chain)
        signed = sign_inner(permit, address=call.sent_by.signer, chain_id=chain.chain_id, at=at)
    except GolemError as error:
        logger.info("no permit is signed by %s: %s", account, error.code)
        return call
    return replace(call, plan=fold(plan, found, signed, account=account))


def _waits(call: HookCall) -> bool:
    return bool(call.wait_seconds) or needs_owners(tier=classify_call(call), call=call)


def _is_nonce_taken(call: HookCall, found: Foldable, chain_id: int) -> bool:
    """Whether an open permit of the golem may have signed for one of the tokens and the spender: Permit2 takes one."""
    still_open = ActionPermit.objects.filter(golem=call.golem, status__in=[str(each) for each in OPEN])
    named = Q()
    for each in found.rights:
        given = {"token": {"address": each.token}, "spender": each.spender, "through": PERMIT2}
        named |= Q(bounds__allowances__contains=[given])
    return still_open.filter(named, chain_id=chain_id).exists()
