"""`wallet_provision`: an agent asks its owners for a wallet; what they approve is done once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from django.db import transaction
from pydantic import Field

from archetypes_app.models import Golem
from permits_app.actions.carry_out_wish import carry_out_wish
from permits_app.actions.request_change import WISH
from permits_app.actions.stage_key import stage_key_elsewhere
from permits_app.approval_errors import RelayerNotConfigured, RelayerRefuses
from permits_app.approvals.operations import find_operation
from permits_app.approvals.operations.base import ObservingOperation
from permits_app.approvals.operations.code_wallet import CODE_WALLET, read_seen_contract
from permits_app.errors import SignerMismatch, SignerUnavailable, WalletExists
from permits_app.gas_relayer import open_relayer
from permits_app.models import ChangeRequest, Wallet
from permits_app.models.signing_key import KeyHolder
from permits_app.models.wallet import WalletKind
from permits_app.tools.wallet import wallet
from tools_app.chain.networks import ChainNotSupported
from tools_app.core.errors import GolemError, InvalidParams, Recovery
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import ActionClass, RiskLayer, TickBudget
from tools_app.toolkit.params import PLAIN, Address
from tools_app.toolkit.plan import LocalEffect

Provider = Annotated[
    Literal["config", "local", "safe", "privy", "turnkey", "kms", "zerodev", "eip7702"],
    Field(
        description="config or local: a new key of this server. safe: a Safe that owners made, by its `address`. privy,"
        " turnkey, kms: a new key there. eip7702: a new key of this server whose account runs known code."
    ),
]
Label = Annotated[str, Field(min_length=1, max_length=100, description="A word for the owners."), PLAIN]

_ELSEWHERE: Final = {
    "privy": (KeyHolder.PRIVY, WalletKind.PRIVY),
    "turnkey": (KeyHolder.TURNKEY, WalletKind.TURNKEY),
    "kms": (KeyHolder.AWS_KMS, WalletKind.AWS_KMS),
}
_ZERODEV: Final = "a smart account at ZeroDev is chosen by an owner on the golem's page, Choose who signs"


class ProviderNeedsOwner(
    GolemError,
    code="WALLET_PROVIDER_NOT_HERE",
    status=409,
    recovery=Recovery.ASK_OWNER,
    title="A wallet of this provider is not made here",
):
    """A wallet of this provider is not made at an agent's word."""


@dataclass(frozen=True, slots=True)
class Provisioned:
    """The wallet the golem acts with now. `account_type` is eoa, safe or eip7702: an eoa that takes up known code in
    the next seconds, and signs nothing before.
    """

    address: str
    provider: str
    chain_id: int
    account_type: str
    request_id: str


def preview_provision(
    ctx: WriteContext, provider: Provider = "config", label: Label | None = None, address: Address | None = None
) -> LocalEffect:
    """The owners' operation that is asked for. Raises ProviderNeedsOwner, WalletExists, InvalidParams."""
    golem = Golem.objects.select_related("owner", "archetype").get(pk=ctx.golem.id)
    if provider == "zerodev":
        raise ProviderNeedsOwner(_ZERODEV, provider=provider)
    if provider == "safe":
        return _ask_for_safe(ctx, golem, address)
    if address is not None:
        raise InvalidParams("a new key has no address yet", fields={"address": "left out, but for a Safe"})
    if golem.address:
        raise WalletExists(
            "this golem has a wallet already; its owner chooses another account or key on its page, Choose who signs",
            address=golem.address,
        )
    if provider in _ELSEWHERE:
        return _ask_for_key_elsewhere(ctx, golem, provider, label)
    if provider == "eip7702":
        return _ask_for_code(ctx, golem, label)
    wish: dict[str, object] = {"name": "new_wallet", "arguments": {"label": label or ""}}
    return LocalEffect("asks the owners for a wallet: a new key of this server's keystore", {WISH: wish})


def _ask_for_code(ctx: WriteContext, golem: Golem, label: str | None) -> LocalEffect:
    try:
        open_relayer()
        asked = _open_operation(CODE_WALLET).observe(golem, {"label": label or ""}, now=ctx.now)
    except (RelayerNotConfigured, RelayerRefuses, ChainNotSupported) as error:
        raise ProviderNeedsOwner(error.detail, provider="eip7702") from None
    contract = read_seen_contract(asked)
    wish = {"name": CODE_WALLET, "arguments": asked}
    return LocalEffect(f"asks the owners for a wallet whose account runs the code of {contract}", {WISH: wish})


def _ask_for_key_elsewhere(ctx: WriteContext, golem: Golem, provider: str, label: str | None) -> LocalEffect:
    """The key is made there now, so that owners see its address, and has no right before they chose it."""
    holder, kind = _ELSEWHERE[provider]
    try:
        key = stage_key_elsewhere(
            golem=golem, holder=holder, reason=label or "asked for", actor=f"golem:{golem.pk}", now=ctx.now
        )
    except SignerMismatch:
        # Who keeps the key did something else than it was asked: no setting of an owner's mends that.
        raise
    except SignerUnavailable as error:
        raise ProviderNeedsOwner(error.detail, provider=provider) from None
    asked = {"kind": kind.value, "wallet_id": key.external_id}
    wish = {"name": "signer", "arguments": _open_operation().observe(golem, asked, now=ctx.now)}
    return LocalEffect(f"asks the owners to let it act with {key.address}, {kind.label}", {WISH: wish})


def _open_operation(name: str = "signer") -> ObservingOperation:
    operation = find_operation(name)
    if not isinstance(operation, ObservingOperation):
        raise TypeError("the operation looks at no chain")
    return operation


def _ask_for_safe(ctx: WriteContext, golem: Golem, safe: str | None) -> LocalEffect:
    if safe is None:
        raise InvalidParams(
            "a Safe is made by its owners; name the one they made", fields={"address": "the Safe's address"}
        )
    if not golem.address:
        raise InvalidParams(
            "a golem needs a key of its own before it acts through a Safe; ask for a local wallet first",
            fields={"provider": "local, and then safe"},
        )
    asked = {"kind": WalletKind.GNOSIS_SAFE.value, "safe": safe}
    wish = {"name": "signer", "arguments": _open_operation().observe(golem, asked, now=ctx.now)}
    return LocalEffect(f"asks the owners to let it act with the Safe {safe}", {WISH: wish})


@wallet.local_write(
    schema_version=3,
    budget=TickBudget.SLOW,
    in_database=True,
    risk=RiskLayer.BOUNDED,
    preview=preview_provision,
    action_class=ActionClass.READ_ONLY,
    privileged=True,
    aliases=("bootstrap_setup_wallet",),
    snippet=(
        "provision: ask your owners for a wallet: a new key here, at Privy, Turnkey or in AWS KMS, one whose account"
        " runs known code (eip7702), or a Safe that they made."
    ),
    guidelines=("A golem has one wallet. Ask once, and tell the owner what it needs to hold for gas.",),
)
def wallet_provision(
    ctx: WriteContext,
    capability: Capability,
    provider: Provider = "config",
    label: Label | None = None,
    address: Address | None = None,
) -> Provisioned:
    """Ask the golem's owners for a wallet to act with.

    Use when the golem has none, or should act through a Safe that its owners made. Always needs their approval. A key
    of this server is made when they approved; one elsewhere is made at once, and may do nothing until then.
    Does not fund it, does not replace a key in place, and makes no smart account at ZeroDev.
    """
    ctx.step("Making the wallet")
    with transaction.atomic():
        request = ChangeRequest.objects.select_related("golem").get(permit_id=capability.permit_id)
        carry_out_wish(request=request, now=ctx.now)
        made = Wallet.objects.get(golem_id=ctx.golem.id)
    return Provisioned(
        address=made.address,
        provider="eip7702" if made.runs else made.kind.lower(),
        chain_id=ctx.golem.home_chain_id,
        account_type="safe" if made.kind == WalletKind.GNOSIS_SAFE else "eip7702" if made.runs else "eoa",
        request_id=str(request.pk),
    )
