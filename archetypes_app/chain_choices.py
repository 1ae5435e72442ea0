"""Offers the chains that an owner may give a golem, as choices of a form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from tools_app.chain.networks import configured_networks, list_begun_later
from tools_app.toolkit.golem_chains import MOST_CHAINS
from tools_app.wording.formats import format_chain


def list_chains() -> list[tuple[int, str]]:
    """Every chain this server has a node for."""
    return [(network.chain_id, format_chain(network.chain_id)) for network in configured_networks()]


def list_offered() -> list[tuple[int, str]]:
    """The same, and those that are begun once a golem uses them."""
    later = [(each.chain_id, f"{format_chain(each.chain_id)}, begins when it is ticked") for each in list_begun_later()]
    return [*list_chains(), *later]


class ChainsField(forms.TypedMultipleChoiceField):
    """Chains of this server as checkboxes; what is ticked counts besides the home chain."""

    def __init__(self, **kwargs: Any) -> None:  # Any: Django hands on any value
        super().__init__(
            label="Other chains",
            required=False,
            coerce=int,
            widget=UnfoldAdminCheckboxSelectMultipleWidget(),
            help_text="It may act on these besides its home chain, and what it holds there counts in its value,"
            " drawdown and limits. None ticked: its home chain alone",
            **kwargs,
        )

    def offer(self, kept: Sequence[int] = ()) -> None:
        """Every chain that can be had, and those that are chosen already."""
        offered = dict(list_offered())
        named = {each: offered.get(each, f"{format_chain(each)}, no node configured") for each in (*offered, *kept)}
        self.choices = sorted(named.items())


def check_chains(home_chain_id: int | None, others: Iterable[int]) -> list[int]:
    """The other chains as the row keeps them: without the home chain, by their ids. Raises ValidationError."""
    found = sorted(set(others) - {home_chain_id})
    if len(found) >= MOST_CHAINS:
        raise ValidationError(f"A golem has {MOST_CHAINS} chains at most, its home chain among them.")
    return found
