"""What the gauge's calls do, read from their bytes: a table."""

from __future__ import annotations

from typing import Final

from tools_app.standards.call_table import CallTable, Reading

from .addresses import deployments

NAME = "made_up_gauge"


def _deposit(reading: Reading, amount: int) -> None:
    reading.spend(reading.at["token"], amount)
    _change(reading, "token", amount)


def _withdraw(reading: Reading, amount: int) -> None:
    reading.receive(reading.at["token"], amount)
    _change(reading, "token", -amount)


def _claim(reading: Reading) -> None:
    reading.into.open_minimums.add(reading.at["reward"])
    _change(reading, "reward", 0, is_exact=False)


def _change(reading: Reading, key: str, raw: int, *, is_exact: bool = True) -> None:
    reading.into.recipients.append(reading.account)
    reading.change("stake", reading.at[key], raw, reading.account, is_exact=is_exact)


EFFECTS: Final = CallTable(
    NAME,
    deployments,
    {
        ("gauge", "function deposit(uint256)"): _deposit,
        ("gauge", "function withdraw(uint256)"): _withdraw,
        ("gauge", "function claim()"): _claim,
    },
)
