"""Rows of what may happen and what did."""

from __future__ import annotations

from permits_app.models.action_record import ActionRecord
from permits_app.models.address_book_entry import KnownAddress
from permits_app.models.allowlist import AllowlistEntry
from permits_app.models.approval import ChangeComment, ChangeExecution, ChangeRequest, OwnerApproval
from permits_app.models.capability_grant import CapabilityGrant
from permits_app.models.chain_follower_lease import ChainWatch
from permits_app.models.death import Death
from permits_app.models.declared_peg import DeclaredPeg
from permits_app.models.denied_call import DeniedCall
from permits_app.models.exposed_safe import SafeOpening
from permits_app.models.former_account import FormerAccount
from permits_app.models.halt import HaltRecord, HaltSetting
from permits_app.models.health_alert import HealthAlert
from permits_app.models.idempotency import IdempotencyRecord
from permits_app.models.known_contract import KnownContract
from permits_app.models.net_asset_value import HighWaterMark, NavSnapshot
from permits_app.models.nonce import NonceCursor, NonceReservation
from permits_app.models.outcome import OutcomeRecord
from permits_app.models.owner_budget import OwnerBudget
from permits_app.models.owner_transaction import OwnerSignature, OwnerTransaction, RelayedTransaction
from permits_app.models.passkey import Passkey, PasskeyChallenge
from permits_app.models.payment_host import PaymentHost
from permits_app.models.pending_request import PendingRequest
from permits_app.models.permit import ActionPermit
from permits_app.models.policy_cage import CageCheckpoint, CageMirror, PolicyCage
from permits_app.models.policy_trial import PolicyTrial
from permits_app.models.policy_version import PolicyVersion
from permits_app.models.received_right import ReceivedRight, RightUse
from permits_app.models.reconciler_state import ChainMark
from permits_app.models.record_archive import RecordArchive, RecordKeeping, TickArchive
from permits_app.models.signed_promise import SignedPromise
from permits_app.models.signing_key import SigningKey
from permits_app.models.sold_answer import SoldAnswer
from permits_app.models.spending import KeySpend, SpendEntry, SpendingLimits
from permits_app.models.standing_allowance import StandingAllowance
from permits_app.models.standing_plan import StandingPlan
from permits_app.models.transaction import OutboundTransaction
from permits_app.models.venue_trust import VenueTrust
from permits_app.models.wallet import Wallet
from permits_app.models.warden import Announcement, Warden
from permits_app.models.withdrawal import Withdrawal, WithdrawalAddress

__all__ = [
    "ActionPermit",
    "ActionRecord",
    "AllowlistEntry",
    "Announcement",
    "CageCheckpoint",
    "CageMirror",
    "CapabilityGrant",
    "ChainMark",
    "ChainWatch",
    "ChangeComment",
    "ChangeExecution",
    "ChangeRequest",
    "Death",
    "DeclaredPeg",
    "DeniedCall",
    "FormerAccount",
    "HaltRecord",
    "HaltSetting",
    "HealthAlert",
    "HighWaterMark",
    "IdempotencyRecord",
    "KeySpend",
    "KnownAddress",
    "KnownContract",
    "NavSnapshot",
    "NonceCursor",
    "NonceReservation",
    "OutboundTransaction",
    "OutcomeRecord",
    "OwnerApproval",
    "OwnerBudget",
    "OwnerSignature",
    "OwnerTransaction",
    "Passkey",
    "PasskeyChallenge",
    "PaymentHost",
    "PendingRequest",
    "PolicyCage",
    "PolicyTrial",
    "PolicyVersion",
    "ReceivedRight",
    "RecordArchive",
    "RecordKeeping",
    "RelayedTransaction",
    "RightUse",
    "SafeOpening",
    "SignedPromise",
    "SigningKey",
    "SoldAnswer",
    "SpendEntry",
    "SpendingLimits",
    "StandingAllowance",
    "StandingPlan",
    "TickArchive",
    "VenueTrust",
    "Wallet",
    "Warden",
    "Withdrawal",
    "WithdrawalAddress",
]
