"""What calls to Rocket Pool do, read from their bytes; written from the contracts' interfaces, not from the tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eth_utils.crypto import keccak

from tools_app.chain.abi import encode_call
from tools_app.protocols.rocketpool.addresses import deployments
from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import NATIVE

_DEPOSIT: Final = encode_call("function deposit()")
_APPROVE: Final = "function approve(address,uint256)"
_BURN: Final = "function burn(uint256)"
_WORTH: Final = "function getEthValue(uint256) view returns (uint256)"
_FOR: Final = "function getRethValue(uint256) view returns (uint256)"
_STORAGE: Final = "function getAddress(bytes32) view returns (address)"
_SETTINGS: Final = keccak(text="contract.addressrocketDAOProtocolSettingsDeposit")
_FEE: Final = "function getDepositFee() view returns (uint256)"
_ONE: Final = 10**18


class RocketPoolEffects:
    """Reads calls to the deposit pool and to rETH."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall, and what the chain raises."""
        at = deployments(chain.chain_id) or {}
        ref = PositionRef("rocketpool", "stake", chain.chain_id, "reth")
        if call.to == at.get("deposit_pool") and call.data == _DEPOSIT:
            if not call.value:
                raise UnknownCall("nothing is staked")
            into.spends[NATIVE] += call.value
            got = int(
                chain.call(at["reth"], _FOR, call.value - call.value * self._fee(chain, at["storage"]) // _ONE)[0]
            )
            raw = int(chain.call(at["reth"], _WORTH, got)[0])
        elif call.to == at.get("reth") and calls(call.data, _BURN) and not call.value:
            (amount,) = read_exactly(call.data, _BURN)
            ether = int(chain.call(at["reth"], _WORTH, amount)[0])
            into.receives[NATIVE] += ether
            raw = -ether - 1
        elif call.to == at.get("reth") and calls(call.data, _APPROVE) and not call.value:
            spender, amount = read_exactly(call.data, _APPROVE)
            into.approvals.append((call.to, spender, amount))
            return
        else:
            raise UnknownCall(f"selector 0x{call.data[:4].hex()} of {call.to} is not known")
        into.changes.append(ChangeRead("rocketpool", "stake", NATIVE, raw, ref, is_exact=False))

    def read_claim(self, token: str, raw: int, *, chain: ChainReader) -> ChangeRead | None:
        """What rETH that is traded takes from the position, or brings to it."""
        if token != (deployments(chain.chain_id) or {}).get("reth"):
            return None
        ether = (1 if raw > 0 else -1) * int(chain.call(token, _WORTH, abs(raw))[0])
        ref = PositionRef("rocketpool", "stake", chain.chain_id, "reth")
        return ChangeRead("rocketpool", "stake", NATIVE, ether, ref, is_exact=False)

    def _fee(self, chain: ChainReader, storage: str) -> int:
        return int(chain.call(str(chain.call(storage, _STORAGE, _SETTINGS)[0]), _FEE)[0])
