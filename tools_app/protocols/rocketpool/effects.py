"""Reads what calls to Rocket Pool do from their bytes; written from the contracts' interfaces, not from the tools."""

from __future__ import annotations

from typing import Final

from eth_utils.crypto import keccak

from tools_app.protocols.rocketpool.addresses import contracts_on, deployments
from tools_app.standards.call_table import CallTable, Reading
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import NATIVE

_WORTH: Final = "function getEthValue(uint256) view returns (uint256)"
_FOR: Final = "function getRethValue(uint256) view returns (uint256)"
_STORAGE: Final = "function getAddress(bytes32) view returns (address)"
_SETTINGS: Final = keccak(text="contract.addressrocketDAOProtocolSettingsDeposit")
_FEE: Final = "function getDepositFee() view returns (uint256)"
_ONE: Final = 10**18


class RocketPoolEffects(CallTable):
    """Reads calls to the deposit pool and to rETH."""

    def read_claim(self, token: str, raw: int, *, chain: ChainReader) -> ChangeRead | None:
        """What rETH that is traded takes from the position, or brings to it."""
        at = contracts_on(chain.chain_id)
        if at is None or token != at.reth:
            return None
        ether = (1 if raw > 0 else -1) * int(chain.call(token, _WORTH, abs(raw))[0])
        ref = PositionRef("rocketpool", "stake", chain.chain_id, "reth")
        return ChangeRead("rocketpool", "stake", NATIVE, ether, ref, is_exact=False)


def _deposit(reading: Reading) -> None:
    value = reading.call.value
    reading.spend(NATIVE, value)
    fee = int(reading.ask(str(reading.ask("storage", _STORAGE, _SETTINGS)), _FEE))
    got = int(reading.ask("reth", _FOR, value - value * fee // _ONE))
    reading.change("stake", NATIVE, int(reading.ask("reth", _WORTH, got)), "reth", is_exact=False)


def _burn(reading: Reading, amount: int) -> None:
    ether = int(reading.ask("reth", _WORTH, amount))
    reading.receive(NATIVE, ether)
    reading.change("stake", NATIVE, -ether - 1, "reth", is_exact=False)


_DEPOSIT: Final = ("deposit_pool", "function deposit()")
EFFECTS: Final = RocketPoolEffects(
    "rocketpool",
    deployments,
    {_DEPOSIT: _deposit, ("reth", "function burn(uint256)"): _burn},
    coin=frozenset({_DEPOSIT}),
    approved=("reth",),
)
