"""Every number and every text of a form is taken up to its edge and refused beyond it, on whichever page it stands.

The numbers are written here once more, by hand: a form that takes more or less than before fails.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any, Final

import pytest
from django import forms
from django.core.exceptions import ValidationError

import archetypes_app
import golem_project
import memory_app
import permits_app
import tools_app
from permits_app.approval_pages.draft_forms import DraftLimitsForm
from permits_app.forms import _NESTED_LIMITS as NESTED_LIMITS
from permits_app.forms import PercentField, UsdField
from permits_app.models import SpendingLimits
from tests.factories.golems import make_golem, make_owner

APPS: Final = (archetypes_app, golem_project, memory_app, permits_app, tools_app)
# What is only as long as a page's reason is, everywhere the same.
REASON: Final = 500
_COLUMN: Final = 2**63 - 1
# Form, field, the least and the most: of a text its length, of a percentage basis points.
EDGES: Final[tuple[tuple[str, str, int | None, int | None], ...]] = (
    ("archetypes_app.coding_form.CodingWorkspaceForm", "host", None, 253),
    ("archetypes_app.coding_form.CodingWorkspaceForm", "port", 0, None),
    ("archetypes_app.coding_form.CodingWorkspaceForm", "username", None, 32),
    ("archetypes_app.coding_form.CodingWorkspaceForm", "folder", None, 500),
    ("archetypes_app.coding_form.CodingWorkspaceForm", "host_key", None, 1000),
    ("archetypes_app.forms.ArchetypeForm", "name", None, 50),
    ("archetypes_app.forms.GolemForm", "name", None, 64),
    ("archetypes_app.forms.GolemForm", "home_chain_id", 0, None),
    ("archetypes_app.forms.GolemForm", "base_asset", None, 42),
    ("archetypes_app.forms.GolemForm", "permit_ttl_seconds", 0, None),
    ("archetypes_app.forms.NewApiKeyForm", "label", None, 64),
    ("archetypes_app.forms.NewApiKeyForm", "lifetime_days", 1, 365),
    ("archetypes_app.forms.NewApiKeyForm", "most_tools", 1, 1000),
    ("archetypes_app.forms.NewGolemForm", "name", None, 64),
    ("archetypes_app.forms.NewGolemForm", "home_chain_id", 0, None),
    ("archetypes_app.forms.NewGolemForm", "base_asset", None, 42),
    ("archetypes_app.forms.ToolOverrideForm", "tool_name", None, 96),
    ("archetypes_app.forms.ToolProfileForm", "name", None, 50),
    ("golem_project.alerts.forms.NewChannelForm", "label", None, 60),
    ("golem_project.alerts.forms.NewChannelForm", "address", None, 320),
    ("golem_project.alerts.forms.NewChannelForm", "url", None, 500),
    ("golem_project.alerts.forms.NewChannelForm", "token", None, 121),
    ("golem_project.alerts.forms.NewChannelForm", "chat_id", None, 33),
    ("golem_project.alerts.forms.NewChannelForm", "time_zone", None, 48),
    ("golem_project.cage_set_up.set_up_pages.AskToFollowForm", "contract", None, 42),
    ("golem_project.cage_set_up.set_up_pages.AskToFollowForm", "block", 0, None),
    ("golem_project.cage_set_up.set_up_pages.DeployForm", "account", None, 42),
    ("golem_project.oauth.pages.CodeForm", "code", None, 16),
    ("golem_project.oauth.pages.SignInForm", "lifetime_days", 1, 90),
    ("golem_project.outside.forms.ServiceForm", "key", None, 500),
    ("golem_project.outside.forms.ServiceForm", "questions_an_hour", 1, 10000),
    ("golem_project.cage_set_up.set_up_pages.DeployForm", "guardian", None, 42),
    ("golem_project.cage_set_up.set_up_pages.FollowForm", "contract", None, 42),
    ("golem_project.cage_set_up.set_up_pages.FollowForm", "block", 0, None),
    ("golem_project.cage_set_up.set_up_pages.SafeForm", "owner", None, 42),
    ("golem_project.chat.forms.WordsForm", "words", None, 2000),
    ("golem_project.heartbeat.admin.SteerForm", "text", None, 500),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "base_interval_seconds", 0, None),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "token_a", None, 64),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "token_b", None, 64),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "half_width_bps", 0, 10000),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "most_deviation_bps", 0, 10000),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "slippage_bps", 0, 10000),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "limit_ladder__against", None, 64),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "limit_ladder__rungs", None, 500),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "limit_ladder__token", None, 64),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "loan_keeper__act_below_bps", 0, 200000),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "loan_keeper__keep_bps", 0, 200000),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "regular_purchase__bought", None, 64),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "regular_purchase__every_hours", 1, 744),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "regular_purchase__sold", None, 64),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "stop_orders__into", None, 64),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "stop_orders__profit_bps", 0, 10000),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "stop_orders__token", None, 64),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "target_weights__band_bps", 0, 10000),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "target_weights__weights", None, 500),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "yield_rotation__better_bps", 0, 10000),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "yield_rotation__pays_back_days", 1, 365),
    ("golem_project.heartbeat.rule_form.HeartbeatForm", "yield_rotation__token", None, 64),
    ("golem_project.people.accept_invitation.AccountForm", "username", None, 150),
    ("golem_project.people.accept_invitation.AccountForm", "invitation", None, 100),
    ("golem_project.people.accept_invitation.InvitationForm", "invitation", None, 100),
    ("golem_project.stream.forms.NewWebhookForm", "label", None, 60),
    ("golem_project.stream.forms.NewWebhookForm", "url", None, 500),
    ("memory_app.admin.directive_versions.NextVersionForm", "text", None, 1000000),
    ("permits_app.admin.address_book.KnownAddressForm", "address", None, 42),
    ("permits_app.admin.address_book.KnownAddressForm", "name", None, 48),
    ("permits_app.admin.address_book.KnownAddressForm", "note", None, 300),
    ("permits_app.admin.declared_pegs.DeclaredPegForm", "chain_id", 0, None),
    ("permits_app.admin.declared_pegs.DeclaredPegForm", "token", None, 42),
    ("permits_app.admin.declared_pegs.DeclaredPegForm", "name", None, 32),
    ("permits_app.admin.declared_pegs.DeclaredPegForm", "most_apart_bps", 0, None),
    ("permits_app.admin.declared_pegs.DeclaredPegForm", "source", None, 200),
    ("permits_app.admin.followed_pages.KeptDaysForm", "days", 1, None),
    ("permits_app.admin.payment_host_pages.HostForm", "origin", None, 255),
    ("permits_app.admin.payment_host_pages.HostForm", "most", None, 40),
    ("permits_app.admin.payment_host_pages.HostForm", "most_a_day", None, 40),
    ("permits_app.admin.people_pages.InviteForm", "label", None, 60),
    ("permits_app.admin.wallets.SignerForm", "safe", None, 42),
    ("permits_app.admin.wallets.SignerForm", "wallet_id", None, 64),
    ("permits_app.admin.wallets.SignerForm", "account", None, 42),
    ("permits_app.admin.wallets.SignerForm", "address", None, 42),
    ("permits_app.admin.grant_pages.GrantForm", "context", None, 20_000),
    ("permits_app.admin.withdrawal_pages.RegisterForm", "label", None, 48),
    ("permits_app.admin.withdrawal_pages.RegisterForm", "address", None, 42),
    ("permits_app.admin.withdrawal_pages.WithdrawForm", "token", None, 42),
    ("permits_app.admin.withdrawal_pages.WithdrawForm", "amount", None, 60),
    ("permits_app.approval_pages.cage_forms.ActForm", "key", None, 66),
    ("permits_app.approval_pages.cage_forms.AssetForm", "per_batch", None, 60),
    ("permits_app.approval_pages.cage_forms.AssetForm", "per_window", None, 60),
    ("permits_app.approval_pages.cage_forms.AssetForm", "jump", 0, 255),
    ("permits_app.approval_pages.cage_forms.AssetForm", "least", None, 60),
    ("permits_app.approval_pages.cage_forms.AssetForm", "most", None, 60),
    ("permits_app.approval_pages.cage_forms.GuardianForm", "guardian", None, 42),
    ("permits_app.approval_pages.cage_forms.LimitForm", "value", None, 40),
    ("permits_app.approval_pages.cage_forms.SessionForm", "key", None, 42),
    ("permits_app.approval_pages.cage_forms.SessionForm", "hours", 0, 8760),
    ("permits_app.approval_pages.cage_forms.SessionForm", "operations", 0, None),
    ("permits_app.approval_pages.cage_forms.SpenderForm", "spender", None, 42),
    ("permits_app.approval_pages.cage_forms.TargetForm", "target", None, 42),
    ("permits_app.approval_pages.cage_forms.TargetForm", "function", None, 400),
    ("permits_app.approval_pages.cage_forms.ValuerForm", "target", None, 42),
    ("permits_app.approval_pages.cage_forms.ValuerForm", "valuer", None, 42),
    ("permits_app.approval_pages.draft_forms.DraftCageForm", "max_assets", 0, None),
    ("permits_app.approval_pages.draft_forms.DraftCageForm", "max_position_bps", 0, 10000),
    ("permits_app.approval_pages.draft_forms.DraftCageForm", "max_concentration_bps", 500, 10000),
    ("permits_app.approval_pages.draft_forms.DraftCageForm", "max_issuer_bps", 0, 10000),
    ("permits_app.approval_pages.draft_forms.DraftCageForm", "max_bridge_bps", 0, 10000),
    ("permits_app.approval_pages.draft_forms.DraftCageForm", "max_oracle_bps", 0, 10000),
    ("permits_app.approval_pages.draft_forms.DraftCageForm", "max_drawdown_bps", 100, 5000),
    ("permits_app.approval_pages.draft_forms.DraftCageForm", "min_collateral_ratio_bps", 10500, 100000),
    ("permits_app.approval_pages.draft_forms.DraftCageForm", "min_health_bps", 11500, 100000),
    ("permits_app.approval_pages.draft_forms.DraftCageForm", "min_range_ticks", 1, 1774544),
    ("permits_app.approval_pages.draft_forms.DraftCageForm", "min_rebalance_interval_seconds", 0, None),
    ("permits_app.approval_pages.draft_forms.DraftCageForm", "max_rebalances_per_day", 0, None),
    ("permits_app.approval_pages.draft_forms.DraftLimitsForm", "writes_per_hour", 0, None),
    ("permits_app.approval_pages.draft_forms.DraftLimitsForm", "most_alike_calls", 1, 20),
    ("permits_app.approval_pages.draft_forms.DraftLimitsForm", "max_slippage_bps", 0, 5000),
    ("permits_app.approval_pages.draft_forms.DraftLimitsForm", "max_price_impact_bps", 0, 5000),
    ("permits_app.approval_pages.feed_forms.SequencerForm", "feed", None, 42),
    ("permits_app.approval_pages.feed_forms.SequencerForm", "minutes", 0, 1440),
    ("permits_app.approval_pages.compare_roles_form.FenceForm", "roles", None, 42),
    ("permits_app.approval_pages.compare_roles_form.FenceForm", "role", None, 32),
    ("permits_app.approval_pages.compare_roles_form.FenceForm", "since", 0, None),
    ("permits_app.approval_pages.forms.CommentForm", "text", None, 2000),
    ("permits_app.approval_pages.forms.DecisionForm", "code", None, 7),
    ("permits_app.approval_pages.forms.DecisionForm", "passkey", None, 16384),
    ("permits_app.approval_pages.forms.DecisionForm", "reason", None, 1000),
    ("permits_app.approval_pages.forms.DecisionForm", "signature", None, 200),
    ("permits_app.approval_pages.forms.DecisionForm", "digest", None, 66),
    ("permits_app.approval_pages.forms.OwnersForm", "co_owners", None, 500),
    ("permits_app.approval_pages.forms.SignatureForm", "signature", None, 200),
    ("permits_app.approval_pages.forms.SignatureForm", "digest", None, 66),
    ("permits_app.approval_pages.forms.StrategyForm", "section", None, 80),
    ("permits_app.approval_pages.forms.StrategyForm", "text", None, 8000),
    ("permits_app.approval_pages.role_forms.PayoutForm", "most", None, 60),
    ("permits_app.approval_pages.role_forms.PayoutForm", "back", None, 60),
    ("permits_app.approval_pages.role_forms.PayoutForm", "hours", 0, 87600),
    ("permits_app.approval_pages.role_forms.PayoutForm", "role", 0, 15),
    ("permits_app.approval_pages.role_forms.PayoutForm", "number", 0, 255),
    ("permits_app.approval_pages.role_forms.RecipientForm", "number", 0, 255),
    ("permits_app.approval_pages.role_forms.RecipientForm", "recipient", None, 42),
    ("permits_app.approval_pages.role_forms.RefillForm", "most", None, 60),
    ("permits_app.approval_pages.role_forms.RefillForm", "back", None, 60),
    ("permits_app.approval_pages.role_forms.RefillForm", "hours", 0, 87600),
    ("permits_app.approval_pages.role_forms.RoleAllowanceForm", "most", None, 60),
    ("permits_app.approval_pages.role_forms.RoleAllowanceForm", "back", None, 60),
    ("permits_app.approval_pages.role_forms.RoleAllowanceForm", "hours", 0, 87600),
    ("permits_app.approval_pages.role_forms.RoleAllowanceForm", "role", 1, 15),
    ("permits_app.approval_pages.role_forms.RoleCallForm", "target", None, 42),
    ("permits_app.approval_pages.role_forms.RoleCallForm", "function", None, 400),
    ("permits_app.approval_pages.role_forms.RoleCallForm", "role", 1, 15),
    ("permits_app.approval_pages.role_forms.RoleSessionForm", "key", None, 42),
    ("permits_app.approval_pages.role_forms.RoleSessionForm", "hours", 0, 8760),
    ("permits_app.approval_pages.role_forms.RoleSessionForm", "operations", 0, None),
    ("permits_app.approval_pages.role_forms.RoleSessionForm", "role", 1, 15),
    ("permits_app.approval_pages.role_forms.RoleSpenderForm", "role", 1, 15),
    ("permits_app.approval_pages.role_forms.RoleSpenderForm", "spender", None, 42),
    ("permits_app.approval_pages.second_factor_forms.AddPasskeyForm", "old_code", None, 7),
    ("permits_app.approval_pages.second_factor_forms.AddPasskeyForm", "passkey", None, 16384),
    ("permits_app.approval_pages.second_factor_forms.AddPasskeyForm", "name", None, 60),
    ("permits_app.approval_pages.second_factor_forms.AddPasskeyForm", "new_passkey", None, 16384),
    ("permits_app.approval_pages.second_factor_forms.ChallengeForm", "subject", None, 120),
    ("permits_app.approval_pages.second_factor_forms.EnrolForm", "old_code", None, 7),
    ("permits_app.approval_pages.second_factor_forms.EnrolForm", "passkey", None, 16384),
    ("permits_app.approval_pages.second_factor_forms.EnrolForm", "code", None, 7),
    ("permits_app.approval_pages.second_factor_forms.FactorForm", "old_code", None, 7),
    ("permits_app.approval_pages.second_factor_forms.FactorForm", "passkey", None, 16384),
    ("permits_app.approval_pages.second_factor_forms.CodeAndPasswordForm", "old_code", None, 7),
    ("permits_app.approval_pages.second_factor_forms.CodeAndPasswordForm", "passkey", None, 16384),
    ("permits_app.approval_pages.second_factor_forms.RenamePasskeyForm", "name", None, 60),
    ("permits_app.admin.allowance_pages.AllowanceForm", "delegate", None, 42),
    ("permits_app.admin.allowance_pages.AllowanceForm", "amount", None, 40),
    ("permits_app.admin.owner_budgets.BudgetForm", "old_code", None, 7),
    ("permits_app.admin.owner_budgets.BudgetForm", "passkey", None, 16384),
    ("permits_app.admin.owner_budgets.EndBudgetForm", "old_code", None, 7),
    ("permits_app.admin.owner_budgets.EndBudgetForm", "passkey", None, 16384),
    ("permits_app.forms.AllowlistEntryForm", "chain_id", 0, None),
    ("permits_app.forms.AllowlistEntryForm", "address", None, 42),
    ("permits_app.forms.AllowlistEntryForm", "label", None, 64),
    ("permits_app.forms.GolemOfChainsForm", "base_asset", None, 42),
    ("permits_app.forms.GolemOfChainsForm", "home_chain_id", 0, None),
    ("permits_app.forms.GolemOfChainsForm", "name", None, 64),
    ("permits_app.forms.GolemOfChainsForm", "permit_ttl_seconds", 0, None),
    ("permits_app.admin.statement_pages.KeepRecordsForm", "days", 90, 36500),
    ("permits_app.forms.NoteForm", "note", None, 2000),
    ("permits_app.forms.HaltChoiceForm", "most_loss_bps", 1, 5000),
    ("permits_app.forms.HaltSettingForm", "most_loss_bps", 1, 5000),
    ("permits_app.forms.PolicyCageForm", "max_assets", 0, None),
    ("permits_app.forms.PolicyCageForm", "max_position_bps", 0, 10000),
    ("permits_app.forms.PolicyCageForm", "max_concentration_bps", 500, 10000),
    ("permits_app.forms.PolicyCageForm", "max_issuer_bps", 0, 10000),
    ("permits_app.forms.PolicyCageForm", "max_bridge_bps", 0, 10000),
    ("permits_app.forms.PolicyCageForm", "max_oracle_bps", 0, 10000),
    ("permits_app.forms.PolicyCageForm", "max_drawdown_bps", 100, 5000),
    ("permits_app.forms.PolicyCageForm", "min_collateral_ratio_bps", 10500, 100000),
    ("permits_app.forms.PolicyCageForm", "min_health_bps", 11500, 100000),
    ("permits_app.forms.PolicyCageForm", "min_range_ticks", 1, 1774544),
    ("permits_app.forms.PolicyCageForm", "min_rebalance_interval_seconds", 0, None),
    ("permits_app.forms.PolicyCageForm", "max_rebalances_per_day", 0, None),
    ("permits_app.forms.ShortenForm", "seconds_left", 0, 3600),
    ("permits_app.forms.SpendingLimitsForm", "writes_per_hour", 0, None),
    ("permits_app.forms.SpendingLimitsForm", "most_alike_calls", 1, 20),
    ("permits_app.forms.SpendingLimitsForm", "max_slippage_bps", 0, 5000),
    ("permits_app.forms.SpendingLimitsForm", "max_price_impact_bps", 0, 5000),
    ("permits_app.forms.WizardGolemForm", "name", None, 64),
    ("permits_app.forms.WizardGolemForm", "home_chain_id", 0, None),
    ("permits_app.forms.WizardGolemForm", "base_asset", None, 42),
    ("permits_app.forms.WizardLimitsForm", "writes_per_hour", 0, None),
    ("permits_app.forms.WizardLimitsForm", "most_alike_calls", 1, 20),
    ("permits_app.forms.WizardLimitsForm", "max_slippage_bps", 0, 5000),
    ("permits_app.forms.WizardLimitsForm", "max_price_impact_bps", 0, 5000),
    ("permits_app.forms.WizardLimitsForm", "most_loss_bps", 1, 5000),
    ("tools_app.admin.saved_filters.NameForm", "name", None, 60),
    ("tools_app.admin.saved_filters.NameForm", "query", None, 4000),
    ("tools_app.admin.accounts_and_schedule.ScheduledTaskForm", "name", None, 200),
    ("tools_app.admin.accounts_and_schedule.ScheduledTaskForm", "task", None, 200),
    ("tools_app.admin.accounts_and_schedule.ScheduledTaskForm", "queue", None, 200),
    ("tools_app.admin.accounts_and_schedule.ScheduledTaskForm", "exchange", None, 200),
    ("tools_app.admin.accounts_and_schedule.ScheduledTaskForm", "routing_key", None, 200),
    ("tools_app.admin.accounts_and_schedule.ScheduledTaskForm", "priority", 0, None),
    ("tools_app.admin.accounts_and_schedule.ScheduledTaskForm", "expire_seconds", 0, None),
)


def list_forms() -> list[type[forms.BaseForm]]:
    """Every form of the product, but those that only open what another one closed."""
    for app in APPS:
        for found in pkgutil.walk_packages(app.__path__, f"{app.__name__}."):
            if "form" in found.name or ".admin" in found.name or found.name.endswith((".pages", ".joining")):
                importlib.import_module(found.name)
    waiting, seen = [forms.BaseForm], set()
    while waiting:
        for each in waiting.pop().__subclasses__():
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    names = {app.__name__ for app in APPS}
    ours = [each for each in seen if each.__module__.split(".")[0] in names]
    return sorted(
        (each for each in ours if not each.__qualname__.startswith("Opened")),
        key=lambda each: (each.__module__, each.__qualname__),
    )


def list_edges() -> Iterator[tuple[str, str, int | None, int | None]]:
    for form in list_forms():
        for name, field in form.base_fields.items():  # type: ignore[attr-defined]
            if (edges := read_edges(field)) != (None, None) and (name, edges[1]) != ("reason", REASON):
                yield f"{form.__module__}.{form.__qualname__}", name, *edges


def read_edges(field: forms.Field) -> tuple[int | None, int | None]:
    if isinstance(field, PercentField):
        return field.least_bps, field.most_bps
    least, most = getattr(field, "min_value", None), getattr(field, "max_value", None)
    return least, getattr(field, "max_length", None) or (None if most == _COLUMN else most)


def test_no_form_takes_a_number_or_a_text_whose_edge_is_not_written_here() -> None:
    assert sorted(map(repr, list_edges())) == sorted(map(repr, EDGES))


def refuses(field: forms.Field, value: Any, *, for_its_size: bool = True) -> bool:
    """Whether the field refuses it, and for its size: another mistake of the value is none then."""
    sizes = {"min_value", "max_value", "max_length"}
    try:
        field.clean(value)
    except ValidationError as error:
        found = [
            each.code in sizes or str(each.message).startswith("Between ") or "below zero" in str(each.message)
            for each in error.error_list
        ]
        return any(found) or not for_its_size
    return False


@pytest.mark.parametrize(("form", "name", "least", "most"), EDGES, ids=lambda each: str(each).rpartition(".")[2])
def test_a_field_takes_its_edge_and_refuses_what_is_beyond(
    form: str, name: str, least: int | None, most: int | None
) -> None:
    module, _, qualified = form.rpartition(".")
    field = getattr(importlib.import_module(module), qualified).base_fields[name]
    if getattr(field, "max_length", None):
        assert most is not None
        # What is no address is refused as such before anybody counts.
        said = [refuses(field, "x" * most), refuses(field, "x" * (most + 1), for_its_size=False)]
    elif isinstance(field, PercentField):
        assert least is not None and most is not None
        bps = (least, most, least - 1, most + 1)
        said = [refuses(field, f"{each / 100:.2f}") for each in bps]
        assert said == [False, False, True, True]
        return
    else:
        said = []
        for edge, step in ((least, -1), (most, 1)):
            if edge is not None:
                said += [refuses(field, str(edge)), refuses(field, str(edge + step))]
    assert said == [False, True] * (len(said) // 2) and said


@pytest.mark.parametrize(("text", "is_taken"), [("0", True), ("-0.01", False), ("edge", True), ("beyond", False)])
def test_dollars_are_taken_from_nothing_up_to_the_most_that_a_column_holds(text: str, is_taken: bool) -> None:
    text = {"edge": "1,000,000,000,000", "beyond": "1,000,000,000,000.01"}.get(text, text)
    assert refuses(UsdField(), text) is not is_taken


@pytest.mark.parametrize(("text", "micro"), [("0.000001", 1), ("10,000.50", 10_000_500_000), ("0.0000001", None)])
def test_dollars_have_six_decimals_and_commas(text: str, micro: int | None) -> None:
    if micro is None:
        with pytest.raises(ValidationError, match="more than 6 decimals"):
            UsdField().clean(text)
        return
    assert UsdField().clean(text) == micro


@pytest.mark.parametrize(
    ("text", "says"), [("0.005", "more than 2 decimals"), *((each, "is no number") for each in ("inf", "nan", "ten"))]
)
def test_a_percentage_has_at_most_two_decimals_and_is_a_number(text: str, says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        PercentField().clean(text)


@pytest.mark.parametrize(("inner", "outer"), NESTED_LIMITS)
@pytest.mark.parametrize("changed", ["inner", "outer", "another"])
def test_a_limit_that_is_changed_fits_the_wider_one_whichever_of_the_two_it_is(
    db: None, inner: str, outer: str, changed: str
) -> None:
    golem = make_golem(name="limited", owner=make_owner(name="ana"))
    row = SpendingLimits(golem=golem, **{inner: 2_000_000, outer: 1_000_000})
    form = DraftLimitsForm(instance=row)
    told = {name: form[name].value() for name in form.fields}
    name = {"inner": inner, "outer": outer, "another": "writes_per_hour"}[changed]
    told[name] = {"inner": "3.00", "outer": "1.50", "another": "7"}[changed]
    # Limits that did not fit before keep no other field from being saved.
    assert DraftLimitsForm(data=told, instance=row).errors.keys() == ({name} if changed != "another" else set())
