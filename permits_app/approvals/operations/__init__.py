"""Owner's operations that become a ChangeRequest: one module each, found here by name.

An operation says what it would change, whether that is still possible, and does it inside one transaction.
"""

from __future__ import annotations

from permits_app.approvals.operations import (
    allowance,
    cage,
    close_safe,
    code_wallet,
    directive,
    follow,
    go_live,
    keys_spend,
    new_wallet,
    nonce,
    owners,
    payment_host,
    phase,
    policy,
    resume,
    role,
    signer,
    standing_plan,
    tools,
    warden,
    withdraw,
    withdrawal_address,
    workspace,
)
from permits_app.approvals.operations.base import Proposal, ProposedOperation, UnknownOperation

OPERATIONS: dict[str, ProposedOperation] = {
    operation.name: operation
    for operation in (
        policy.ChangePolicy(),
        cage.ChangeCage(),
        follow.FollowContract(),
        nonce.UseUpNonce(),
        close_safe.CloseSafe(),
        signer.ChooseSigner(),
        new_wallet.MakeWallet(),
        code_wallet.MakeCodeWallet(),
        directive.WriteStrategy(),
        tools.ChangeTools(),
        phase.ResetPhase(),
        resume.ResumeGolem(),
        go_live.GoLive(),
        keys_spend.LetKeysSpend(),
        owners.ChangeOwners(),
        role.ChangeRole(),
        warden.TurnWardenOff(),
        workspace.LoosenWorkspace(),
        withdraw.Withdraw(),
        allowance.ChangeAllowance(),
        withdrawal_address.RegisterAddress(),
        payment_host.ListHost(),
        standing_plan.AgreeToPlan(),
    )
}


def find_operation(name: str) -> ProposedOperation:
    """The operation called `name`. Raises UnknownOperation."""
    if name not in OPERATIONS:
        raise UnknownOperation(f"there is no operation {name!r}", available=sorted(OPERATIONS))
    return OPERATIONS[name]


__all__ = ["OPERATIONS", "ProposedOperation", "Proposal", "UnknownOperation", "find_operation"]
