"""What the `maker_*` tools tell of a plan that was mined."""

from __future__ import annotations

from dataclasses import dataclass

from tools_app.protocols.maker_sky.positions import NEW_CDP
from tools_app.standards.receipts import events_of
from tools_app.toolkit.plan import PlanOutcome
from tools_app.toolkit.result import TokenAmount


@dataclass(frozen=True, slots=True)
class VaultReport:
    """What became of a vault. The ratio is collateral over debt in percent, None without debt."""

    vault_id: str
    collateral_type: str


@dataclass(frozen=True, slots=True)
class DepositReport:
    """Collateral put in. The ratio is collateral over debt in percent, None without debt."""

    vault_id: str
    collateral_deposited: TokenAmount
    total_collateral: TokenAmount
    collateralization_ratio: str | None


@dataclass(frozen=True, slots=True)
class GenerateReport:
    """DAI drawn. Ratio and fee are percent, the liquidation price dollars for one unit of collateral."""

    vault_id: str
    dai_generated: TokenAmount
    total_debt: TokenAmount
    collateralization_ratio: str
    liquidation_price: str
    stability_fee: str


@dataclass(frozen=True, slots=True)
class RepayReport:
    """DAI paid back. The ratio is collateral over debt in percent."""

    vault_id: str
    dai_repaid: TokenAmount
    debt_remaining: TokenAmount
    collateralization_ratio: str | None


@dataclass(frozen=True, slots=True)
class CloseReport:
    """Debt paid and collateral taken back."""

    vault_id: str
    dai_repaid: TokenAmount | None
    collateral_withdrawn: TokenAmount


def report_open(outcome: PlanOutcome) -> VaultReport:
    """The number from the manager's event."""
    details = outcome.plan.details
    (opened, *_) = events_of(outcome, NEW_CDP, contract=str(details["manager"])) or [{"cdp": ""}]
    return VaultReport(
        vault_id=str(opened["cdp"]),
        collateral_type=str(details["collateral_type"]),
    )


def report_deposit(outcome: PlanOutcome) -> DepositReport:
    """The amount from the balance difference, the rest as planned."""
    details, token = outcome.plan.details, outcome.plan.spends[0].token
    return DepositReport(
        vault_id=str(details["vault_id"]),
        collateral_deposited=TokenAmount(-outcome.deltas.get(token.address, 0), token),
        total_collateral=TokenAmount(int(details["collateral_after"]), token),
        collateralization_ratio=details["ratio"],
    )


def report_generate(outcome: PlanOutcome) -> GenerateReport:
    """The amount from the balance difference, the rest as planned."""
    details, token = outcome.plan.details, outcome.plan.receives[0].token
    return GenerateReport(
        vault_id=str(details["vault_id"]),
        dai_generated=TokenAmount(outcome.deltas.get(token.address, 0), token),
        total_debt=TokenAmount(int(details["owed_after"]), token),
        collateralization_ratio=str(details["ratio"]),
        liquidation_price=str(details["liquidation_price"]),
        stability_fee=str(details["stability_fee"]),
    )


def report_repay(outcome: PlanOutcome) -> RepayReport:
    """The amount from the balance difference, the rest as planned."""
    details, token = outcome.plan.details, outcome.plan.spends[0].token
    return RepayReport(
        vault_id=str(details["vault_id"]),
        dai_repaid=TokenAmount(-outcome.deltas.get(token.address, 0), token),
        debt_remaining=TokenAmount(int(details["owed_after"]), token),
        collateralization_ratio=details["ratio"],
    )


def report_close(outcome: PlanOutcome) -> CloseReport:
    """Amounts from the balance differences."""
    plan = outcome.plan
    paid, taken = (plan.spends[0].token if plan.spends else None), plan.receives[0].token
    return CloseReport(
        vault_id=str(plan.details["vault_id"]),
        dai_repaid=TokenAmount(-outcome.deltas.get(paid.address, 0), paid) if paid else None,
        collateral_withdrawn=TokenAmount(outcome.deltas.get(taken.address, 0), taken),
    )
