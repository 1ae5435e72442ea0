"""Finds in a vault's logs who got what was asked of it by request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import decode_log, event_topic
from tools_app.standards.erc4626 import DEPOSIT_EVENT, PAID_IN, PAID_OUT, WITHDRAW_EVENT, Vault
from tools_app.standards.erc7540 import IN, OUT
from tools_app.toolkit.positions import Leg, PositionRef, Trail
from tools_app.toolkit.views import LogEntry
from tools_app.toolkit.withdrawal_request_claims import Taking

TAKEN_BACK_EVENT: Final = "event DepositRequestCanceled(uint256 indexed requestId, address indexed controller)"
"""Lagoon's own; what is taken back goes to the controller, and the log tells no amount."""


@dataclass(frozen=True, slots=True)
class RequestTakings:
    """Claims of shares and of assets, and deposits that were taken back."""

    find_vault: Callable[[int, str], Vault | None]

    def trails(self, ref: PositionRef, account: str) -> Sequence[Trail]:
        """Of the vault, what names the account as the controller."""
        way, _, vault = ref.id.partition("-")
        whose = "0x" + account.removeprefix("0x").lower().rjust(64, "0")
        if way == OUT:
            return (Trail((vault,), (event_topic(WITHDRAW_EVENT), None, None, whose)),)
        return (
            Trail((vault,), (event_topic(DEPOSIT_EVENT), whose)),
            Trail((vault,), (event_topic(TAKEN_BACK_EVENT), None, whose)),
        )

    def read(self, ref: PositionRef, account: str, logs: Sequence[LogEntry]) -> tuple[Taking, ...]:
        """Shares of a deposit and assets of a withdrawal; what was taken back is told as coming to the account."""
        way, _, at = ref.id.partition("-")
        vault = self.find_vault(ref.chain_id, at)
        if vault is None:
            return ()
        found = []
        for log in sorted(logs, key=lambda each: (each.block_number, each.log_index)):
            if way == IN and (paid_in := PAID_IN.read(log)) is not None:
                found.append(Taking(paid_in.owner, Leg(vault.address, paid_in.shares), log.block_number))
            elif way != IN and (paid_out := PAID_OUT.read(log)) is not None:
                found.append(Taking(paid_out.receiver, Leg(vault.asset, paid_out.assets), log.block_number))
            elif decode_log(TAKEN_BACK_EVENT, log) is not None:
                found.append(Taking(account, Leg(vault.asset, 0), log.block_number))
        return tuple(found)
