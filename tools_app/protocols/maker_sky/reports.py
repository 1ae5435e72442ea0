"""Writes what the `maker_*` tools tell of a plan that was mined."""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.protocols.maker_sky.positions import OPENED
from tools_app.standards.receipts import list_events, read_details
from tools_app.toolkit.answer import Told
from tools_app.toolkit.plan import PlanOutcome
from tools_app.toolkit.report import Report, received, received_as, spent, spent_as, told
from tools_app.toolkit.result import TokenAmount


class VaultReport(Told):
    """What became of a vault. The ratio is collateral over debt in percent, None without debt."""

    vault_id: str
    collateral_type: str


class DepositReport(Report):
    """Collateral put in. The ratio is collateral over debt in percent, None without debt."""

    vault_id: str
    collateral_deposited: TokenAmount = spent()
    total_collateral: TokenAmount = spent_as("collateral_after")
    collateralization_ratio: str | None = told("ratio")


class GenerateReport(Report):
    """DAI drawn. Ratio and fee are percent, the liquidation price dollars for one unit of collateral."""

    vault_id: str
    dai_generated: TokenAmount = received()
    total_debt: TokenAmount = received_as("owed_after")
    collateralization_ratio: str = told("ratio")
    liquidation_price: str
    stability_fee: str


class RepayReport(Report):
    """DAI paid back. The ratio is collateral over debt in percent."""

    vault_id: str
    dai_repaid: TokenAmount = spent()
    debt_remaining: TokenAmount = spent_as("owed_after")
    collateralization_ratio: str | None = told("ratio")


class CloseReport(Told):
    """Debt paid and collateral taken back."""

    vault_id: str
    dai_repaid: TokenAmount | None
    collateral_withdrawn: TokenAmount


@dataclass(frozen=True, slots=True)
class _OpenDetails:
    manager: str
    collateral_type: str


@dataclass(frozen=True, slots=True)
class _CloseDetails:
    vault_id: str


def report_open(outcome: PlanOutcome) -> VaultReport:
    """The number from the manager's event."""
    details = read_details(_OpenDetails, outcome)
    opened = list_events(outcome, OPENED, contract=details.manager)
    return VaultReport(vault_id=str(opened[0].cdp) if opened else "", collateral_type=details.collateral_type)


def report_close(outcome: PlanOutcome) -> CloseReport:
    """Amounts from the balance differences."""
    plan = outcome.plan
    paid, taken = (plan.spends[0].token if plan.spends else None), plan.receives[0].token
    return CloseReport(
        vault_id=read_details(_CloseDetails, outcome).vault_id,
        dai_repaid=TokenAmount(-outcome.deltas.get(paid.address, 0), paid) if paid else None,
        collateral_withdrawn=TokenAmount(outcome.deltas.get(taken.address, 0), taken),
    )
