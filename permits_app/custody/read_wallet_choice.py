"""read_wallet_choice: what the chain, or who keeps its key, says of a wallet that a golem shall act with.

Nothing is written and no transaction may be open. What is read here is shown to the owners and hashed with the change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from eth_utils import is_address, to_checksum_address

from archetypes_app.models import Golem
from permits_app.approval_errors import CageHasNoSafe
from permits_app.custody.exposed_safe_checks import check_account
from permits_app.custody.safe_view import read_safe
from permits_app.custody.signers.choose_signer import open_keystore, open_kms, open_privy, open_turnkey, open_zerodev
from permits_app.errors import SessionNotActive, SignerUnavailable
from permits_app.models import CageMirror, SigningKey
from permits_app.models.signing_key import KeyHolder, KeyState
from permits_app.models.wallet import WalletKind
from tools_app import runner
from tools_app.chain.node_errors import CallReverted, ContractOutputUnexpected
from tools_app.core.clock import Deadline
from tools_app.core.errors import InvalidParams
from tools_app.core.stored_json import read_stored
from tools_app.standards import zerodev_kernel
from tools_app.standards.user_operation import ENTRY_POINT

_BUDGET_MS = 8_000


@dataclass(frozen=True, slots=True)
class _AskedWallet:
    """The wallet that was asked for; addresses are as they were written."""

    kind: object = ""
    safe: object = None
    wallet_id: object = ""
    account: object = None
    address: object = None


def read_wallet_choice(*, golem: Golem, arguments: Mapping[str, object], now: datetime) -> dict[str, str]:
    """`kind`, `address`, `key`, `external_id` and a `note` in words.

    `arguments`: `kind`; for a Safe its address as `safe`; for Privy, Turnkey and AWS KMS its `wallet_id`; for a key of
    this server's keystore its `address`; at ZeroDev the smart `account`, or nothing for the one that Kernel's factory
    makes for the key, and a `wallet_id` where that key is at Privy. Raises InvalidParams, SignerUnavailable,
    SignerMismatch, SessionNotActive, node errors.
    """
    asked = read_stored(_AskedWallet, arguments)
    try:
        kind = WalletKind(str(asked.kind))
    except ValueError:
        raise InvalidParams("there is no such kind of wallet", fields={"kind": "unknown"}) from None
    reader = {
        WalletKind.POLICY_CAGE: _read_cage,
        WalletKind.GNOSIS_SAFE: _read_safe,
        WalletKind.PRIVY: _read_privy,
        WalletKind.AWS_KMS: _read_kms,
        WalletKind.TURNKEY: _read_turnkey,
        WalletKind.ZERODEV: _read_zerodev,
        WalletKind.LOCAL_KEYSTORE: _read_local,
    }[kind]
    return {"kind": kind.value, "external_id": "", **reader(golem, asked, now)}


def _read_cage(golem: Golem, asked: _AskedWallet, now: datetime) -> dict[str, str]:
    mirror = CageMirror.objects.filter(cage__golem=golem).first()
    if mirror is None:
        raise SignerUnavailable("this golem has no mirrored cage; deploy one, or register it, first")
    if not mirror.is_enforced:
        raise SignerUnavailable(
            f"the Safe {mirror.account} does not act through the cage {mirror.contract}; its owners enable the module",
            contract=mirror.contract,
            safe=mirror.account,
        )
    key = str(mirror.state["session"]["key"])
    if not SigningKey.objects.filter(golem=golem, address=key).exists():
        raise SessionNotActive(
            "the cage's session key is none of this golem's; stage a key, and let its owners appoint it",
            contract=mirror.contract,
            session_key=key,
        )
    cages = {mirror.account: (mirror.contract,)}
    check_account(mirror.chain_id, mirror.account, cages, now=now)
    note = f"through the cage {mirror.contract}; enforced on chain"
    return {"address": str(mirror.account), "key": key, "note": note}


def _read_safe(golem: Golem, asked: _AskedWallet, now: datetime) -> dict[str, str]:
    safe = _as_address(asked.safe, "safe")
    key = _own_key(golem, None)
    chain = runner.open_reader(golem.home_chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
    try:
        seen = read_safe(chain, safe)
    except CageHasNoSafe:
        raise InvalidParams(f"{safe} does not answer as a Safe", fields={"safe": "is no Safe"}) from None
    check_account(golem.home_chain_id, safe, {}, now=now)
    is_owner = key.address in seen.owners
    if is_owner and seen.threshold == 1:
        note = "the golem's key owns this Safe with every right; its limits are enforced by this server only"
    else:
        note = (
            f"{seen.threshold} of its {len(seen.owners)} owners sign each plan; the golem's key is "
            f"{'one' if is_owner else 'none'} of them, sends it and pays the gas"
        )
    return {"address": safe, "key": key.address, "note": note}


def _read_privy(golem: Golem, asked: _AskedWallet, now: datetime) -> dict[str, str]:
    wallet_id = str(asked.wallet_id).strip()
    address = open_privy().read_address(wallet_id)
    note = "the key is at Privy, who signs; limits are enforced by this server only"
    return {"address": address, "key": address, "external_id": wallet_id, "note": note}


def _read_kms(golem: Golem, asked: _AskedWallet, now: datetime) -> dict[str, str]:
    key_id = str(asked.wallet_id).strip()
    address = open_kms().read_address(key_id)
    note = "the key is in AWS KMS, which signs what this server asks; limits are enforced by this server only"
    return {"address": address, "key": address, "external_id": key_id, "note": note}


def _read_turnkey(golem: Golem, asked: _AskedWallet, now: datetime) -> dict[str, str]:
    wallet_id = str(asked.wallet_id).strip()
    address = open_turnkey().read_address(wallet_id)
    note = "the key is at Turnkey, who signs; limits are enforced by this server and by policies there"
    return {"address": address, "key": address, "external_id": wallet_id, "note": note}


def _read_zerodev(golem: Golem, asked: _AskedWallet, now: datetime) -> dict[str, str]:
    chain = runner.open_reader(golem.home_chain_id, now=now, deadline=Deadline.after_ms(_BUDGET_MS))
    open_zerodev().check_serves(chain.chain_id)
    named, wallet_id = asked.account, str(asked.wallet_id or "").strip()
    at_privy = open_privy().read_address(wallet_id) if wallet_id else ""
    try:
        if named:
            account = _as_address(named, "account")
            owner = zerodev_kernel.read_owner(chain, account, entry_point=ENTRY_POINT)
        else:
            owner = at_privy or _own_key(golem, None).address
            account = zerodev_kernel.find_account(chain, owner)
            if not chain.code(account):
                raise _ask_for_account(owner, account)
            owner = zerodev_kernel.read_owner(chain, account, entry_point=ENTRY_POINT)
    except (CallReverted, ContractOutputUnexpected):
        raise InvalidParams(
            f"{named or zerodev_kernel.FACTORY} does not answer as Kernel v3 does on chain {chain.chain_id}",
            fields={"account": "is no Kernel v3 account"},
        ) from None
    if not owner:
        raise SignerUnavailable(
            f"{account} is not ruled by one key through EntryPoint v0.7 and ZeroDev's ECDSA validator", address=account
        )
    if at_privy and owner != at_privy:
        raise SignerUnavailable(f"{account} is owned by {owner}, not by the wallet at Privy", address=account)
    key = at_privy or _own_key(golem, owner).address
    payer = settings.GOLEM_ZERODEV_PAYMASTER
    paid = f"the paymaster {payer} pays the gas" if payer else "it pays its gas itself"
    owned = "its key at Privy" if at_privy else "the golem's key"
    note = f"a smart account that {owned} alone owns; {paid}; limits are enforced by this server only"
    return {"address": account, "key": key, "external_id": wallet_id, "note": note}


def _ask_for_account(owner: str, account: str) -> SignerUnavailable:
    made_by = zerodev_kernel.build_creation(owner)
    data = "0x" + made_by.data.hex()
    return SignerUnavailable(
        f"no account lies at {account} yet; whoever sends {data} to {made_by.to} makes it",
        address=account,
        to=made_by.to,
        data=data,
    )


def _read_local(golem: Golem, asked: _AskedWallet, now: datetime) -> dict[str, str]:
    key = _own_key(golem, _as_address(asked.address, "address") if asked.address else None)
    note = "a key of this server's keystore; limits are enforced by this server only"
    return {"address": key.address, "key": key.address, "note": note}


def _own_key(golem: Golem, address: str | None) -> SigningKey:
    """A key of the golem in this server's keystore: the one asked for, else the staged one, else the active one."""
    keys = SigningKey.objects.filter(golem=golem, holder=KeyHolder.LOCAL_KEYSTORE)
    if address is not None:
        found = keys.filter(address=address).first()
    else:
        found = keys.filter(state=KeyState.STAGED).first() or keys.filter(state=KeyState.ACTIVE).first()
    if found is None or not open_keystore().holds(found.address):
        raise SignerUnavailable("the golem has no such key in this server's keystore; stage one first")
    return found


def _as_address(given: object, name: str) -> str:
    if not isinstance(given, str) or not is_address(given):
        raise InvalidParams(f"{name} is an address: 0x and 40 hex digits", fields={name: "malformed"})
    return str(to_checksum_address(given))
