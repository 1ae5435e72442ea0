"""Reads what is sent to the manager from its bytes: one transfer of one token from who gave to the account, or the end
of a delegation that the account handed on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.chain.abi import checksum
from tools_app.protocols.metamask.addresses import MANAGER, deployments
from tools_app.protocols.metamask.delegations import (
    DISABLE,
    REDEEM,
    SINGLE,
    NoDelegation,
    decode_context,
    decode_execution,
    read_struct,
)
from tools_app.protocols.metamask.grants import read_grant
from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import Effects, PrincipalRead, UnknownCall
from tools_app.toolkit.others_money import GrantUnsafe
from tools_app.toolkit.plan import Call, Statement

_TRANSFER: Final = "function transfer(address to, uint256 amount)"


DISABLED_KEY, DISABLED_TEXT = "delegation", "disabled"
"""What a plan writes down that takes one back."""


class RedemptionEffects:
    """One delegation, one execution; or one delegation of the account's own, disabled."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall."""
        at = deployments(chain.chain_id)
        if at is not None and call.to == at[MANAGER] and not call.value and calls(call.data, DISABLE):
            _read_disabling(call, account, at[MANAGER], into)
            return
        if at is None or call.to != at[MANAGER] or call.value or not calls(call.data, REDEEM):
            raise UnknownCall("only redemptions of delegations and their end are known, and they take no coin")
        contexts, modes, executions = read_exactly(call.data, REDEEM)
        if len(contexts) != 1 or len(executions) != 1 or [bytes(each) for each in modes] != [SINGLE]:
            raise UnknownCall("one delegation is redeemed for one call, and no other")
        try:
            given = decode_context(bytes(contexts[0]))
            grant = read_grant(chain_id=chain.chain_id, given="0x" + bytes(contexts[0]).hex(), holder=account)
        except (NoDelegation, GrantUnsafe) as error:
            raise UnknownCall(f"the delegation: {error}") from error
        target, wei, data = decode_execution(bytes(executions[0]))
        if wei or checksum(target) != grant.token or not calls(data, _TRANSFER):
            raise UnknownCall("what is redeemed is no transfer of the token that was granted")
        to, amount = read_exactly(data, _TRANSFER)
        if to != account:
            raise UnknownCall(f"what is drawn would go to {to}, which is not the golem")
        into.principals.append(PrincipalRead(given.hash, given.delegator, grant.token, amount))
        into.receives[grant.token] += amount
        into.recipients.append(to)


def _read_disabling(call: Call, account: str, manager: str, into: Effects) -> None:
    [words] = read_exactly(call.data, DISABLE)
    given = read_struct(words)
    if given.delegator != account:
        raise UnknownCall(f"{given.delegator} gave it, and nobody else can take it back")
    if given.signature or any(each.args for each in given.caveats):
        raise UnknownCall("what is taken back stands there with words that are no part of it")
    into.statements.append(Statement(manager, given.hash, DISABLED_KEY, DISABLED_TEXT))
