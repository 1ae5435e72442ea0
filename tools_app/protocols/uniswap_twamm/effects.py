"""What calls to the orders over time do, read from their bytes; written from the contract, not from the tools."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.uniswap_twamm.addresses import deployments
from tools_app.standards.call_table import CallTable, Reading
from tools_app.toolkit.effects import UnknownCall

_ORDER: Final = (
    "function orders(uint256) view returns ((address, address, address, uint256, uint256, uint256, uint256, uint256,"
    " uint256, uint256, uint256))"
)


def _submit(reading: Reading, sold: str, bought: str, amount: int, least: int, seconds: int) -> None:
    if not (amount and least and seconds) or sold == bought:
        raise UnknownCall("an order over time without an amount, a least price, a length or a second token")
    reading.spend(sold, amount)
    # What comes of an order goes to who submits it.
    reading.into.recipients.append(reading.account)
    reading.change("order", sold, amount)
    reading.state(bought, {"least bought": f"{least} in {seconds} s"})


def _close(reading: Reading, number: int) -> None:
    owner, sold, bought, amount, _, _, _, gone, got, fate, _ = reading.ask("orders", _ORDER, number)
    if owner != reading.account or fate != 1:
        raise UnknownCall(f"order {number} is {owner}'s, or has ended")
    reading.into.recipients.append(owner)
    # Somebody may fill a part until it runs: then less of the one comes and more of the other.
    for token, raw, surely in ((sold, amount - gone, 0), (bought, got, got)):
        if raw:
            reading.receive(token, surely, is_open=True)
            reading.change("order", token, -raw, str(number), is_exact=False)


EFFECTS: Final = CallTable(
    "uniswap_twamm",
    deployments,
    {
        ("orders", "function submit(address,address,uint256,uint256,uint256)"): _submit,
        ("orders", "function close(uint256)"): _close,
    },
)
