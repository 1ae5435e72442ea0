"""A golem's agent card: who it is, where and how it is asked, and its skills; signed, in the words of 1.0 and 0.3."""

from __future__ import annotations

from collections.abc import Sequence

from a2a.types import a2a_pb2 as wire
from google.protobuf.json_format import MessageToDict

from archetypes_app.models import Golem
from golem_project.a2a.card_key import sign_card
from golem_project.a2a.models import OpenedRead
from golem_project.a2a.skills import HOW_TO_ASK
from golem_project.a2a.task_messages import JSON, TEXT
from golem_project.pi.manifest import MANIFEST_VERSION

KEYS_PATH = "/a2a/keys.json"
PAYMENTS = "https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2"
_KEY, _WALLET = "golemToken", "walletVisit"
_BINDINGS = (
    ("JSONRPC", "1.0", ""),
    ("HTTP+JSON", "1.0", "/rest"),
    ("JSONRPC", "0.3", ""),
    ("HTTP+JSON", "0.3", "/rest"),
)


def make_card(*, golem: Golem, base_url: str, skills: Sequence[wire.AgentSkill]) -> wire.AgentCard:
    """The signed card of `golem` at `base_url`, which is scheme and host without a slash at its end."""
    has_prices = OpenedRead.objects.filter(golem=golem, price_micro_usdc__isnull=False).exists()
    home = f"{base_url}/a2a/{golem.pk}"
    card = wire.AgentCard(
        name=golem.name,
        description=f"A golem: an agent with a wallet, limits and an owner. {HOW_TO_ASK}",
        version=f"{MANIFEST_VERSION}.0.0",
        documentation_url=f"{base_url}/llms.txt",
        provider=wire.AgentProvider(organization="Golem", url=base_url),
        supported_interfaces=[
            wire.AgentInterface(url=f"{home}{path}", protocol_binding=binding, protocol_version=version)
            for binding, version, path in _BINDINGS
        ],
        capabilities=wire.AgentCapabilities(streaming=True, push_notifications=True, extended_agent_card=True),
        default_input_modes=[JSON, TEXT],
        default_output_modes=[JSON],
        skills=skills,
    )
    if has_prices:
        card.capabilities.extensions.add(uri=PAYMENTS, description="Reads that have a price are paid by x402.")
    for name, text in (
        (_KEY, "A token of this golem, from its owner."),
        (
            _WALLET,
            f"A visit: sign the challenge of {home}/challenge (EIP-191 or EIP-712) and exchange it at {home}/visit.",
        ),
    ):
        card.security_schemes[name].http_auth_security_scheme.CopyFrom(
            wire.HTTPAuthSecurityScheme(scheme="bearer", description=text)
        )
        # Either of them.
        requirement = card.security_requirements.add()
        requirement.schemes[name].SetInParent()
    return sign_card(card, keys_url=f"{base_url}{KEYS_PATH}")


def show_card(card: wire.AgentCard, *, version: str = "") -> dict[str, object]:
    """The card as JSON, in the words of 1.0 or of 0.3 alone for who asks in one; else in both, as each client looks for
    its own.
    """
    if version.startswith("1."):
        return MessageToDict(card)
    # Imported here: its package is the SDK's whole server, which a start does without.
    from a2a.compat.v0_3.conversions import to_compat_agent_card
    from a2a.server.request_handlers.response_helpers import agent_card_to_dict

    if version.startswith("0.3"):
        told: dict[str, object] = to_compat_agent_card(card).model_dump(mode="json", by_alias=True, exclude_none=True)
        return told
    return agent_card_to_dict(card)
