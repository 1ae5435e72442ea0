"""Reads what calls to a vault by request do from their bytes, by the standard's and Lagoon's interfaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tools_app.standards.calldata import calls, read_exactly
from tools_app.standards.erc4626 import REDEEM, TO_ASSETS, Vault, VaultFamily
from tools_app.standards.erc7540 import ASK_IN, ASK_OUT, CLAIM_IN, IN, OUT, TAKE_BACK, ask_requests, request_ref
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import REQUEST_KIND, drive


@dataclass(frozen=True, slots=True)
class RequestEffects:
    """Reads requests for the account alone, and claims of all that was settled."""

    family: VaultFamily

    def read_effects(self, call: Call, vault: Vault, account: str, chain: ChainReader, into: Effects) -> None:
        """Add what a call to a vault by request does. Raises UnknownCall for any byte that is not accounted for."""
        if call.value:
            raise UnknownCall("a vault is sent coin, which no tool does")
        asked = drive(ask_requests(vault, account), chain.call_many)
        if calls(call.data, ASK_IN):
            assets, *whose = read_exactly(call.data, ASK_IN)
            _check_own(whose, account)
            into.spends[vault.asset] += assets
            self._moved(chain, vault, IN, assets, into)
        elif calls(call.data, ASK_OUT):
            shares, *whose = read_exactly(call.data, ASK_OUT)
            _check_own(whose, account)
            worth = int(chain.call(vault.address, TO_ASSETS, shares)[0])
            self._shares_moved(chain, vault, -worth, into)
            self._moved(chain, vault, OUT, worth, into, is_exact=False)
        elif calls(call.data, CLAIM_IN):
            assets, *whose = read_exactly(call.data, CLAIM_IN)
            _check_own(whose, account)
            _check_whole(assets, asked.ready_in)
            self._moved(chain, vault, IN, -asked.ready_in_worth, into, is_exact=False)
            self._shares_moved(chain, vault, asked.ready_in_worth, into)
        elif calls(call.data, TAKE_BACK):
            read_exactly(call.data, TAKE_BACK)
            _check_whole(asked.waits_in, asked.waits_in)
            into.receives[vault.asset] += asked.waits_in
            into.recipients.append(account)
            self._moved(chain, vault, IN, -asked.waits_in, into)
        elif calls(call.data, REDEEM) and asked.ready_out:
            shares, *whose = read_exactly(call.data, REDEEM)
            _check_own(whose, account)
            _check_whole(shares, asked.ready_out)
            into.receives[vault.asset] += asked.ready_out_assets
            into.recipients.append(account)
            self._moved(chain, vault, OUT, -asked.ready_out_assets, into)
        elif calls(call.data, REDEEM):
            # A vault that was closed for good gives back at once.
            self.family.read_effects(call, vault, account, chain, into)
        else:
            raise UnknownCall(f"selector 0x{call.data[:4].hex()} of a vault by request is not known")

    def _moved(
        self, chain: ChainReader, vault: Vault, way: str, raw: int, into: Effects, *, is_exact: bool = True
    ) -> None:
        ref = request_ref(self.family, chain.chain_id, vault, way)
        into.changes.append(
            ChangeRead(self.family.protocol, REQUEST_KIND, vault.asset, raw, ref, is_exact=is_exact, rounding=2)
        )

    def _shares_moved(self, chain: ChainReader, vault: Vault, raw: int, into: Effects) -> None:
        ref = self.family.ref(chain.chain_id, vault.address)
        into.changes.append(
            ChangeRead(self.family.protocol, self.family.kind, vault.asset, raw, ref, is_exact=False, rounding=2)
        )


# ---- below ----------------------------------------------------------------------------------------------------------


def _check_own(whose: Sequence[str], account: str) -> None:
    strangers = [each for each in whose if each != account]
    if strangers:
        raise UnknownCall(f"a request would be {strangers[0]}'s")


def _check_whole(raw: int, whole: int) -> None:
    if not raw or raw != whole:
        raise UnknownCall(f"a request is ended whole: there are {whole}, and the call says {raw}")
