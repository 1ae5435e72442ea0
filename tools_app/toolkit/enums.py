"""The closed vocabularies of a tool."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final, TypeAlias


class Category(StrEnum):
    """What a tool is about; profiles are bundles of categories."""

    DATA = "data"
    TRADING = "trading"
    LENDING = "lending"
    STAKING = "staking"
    RESTAKING = "restaking"
    DERIVATIVES = "derivatives"
    YIELD = "yield"
    LP = "lp"
    VAULT = "vault"
    SAFETY = "safety"
    INTELLIGENCE = "intelligence"
    MEMORY = "memory"
    IDENTITY = "identity"
    WALLET = "wallet"
    STREAMING = "streaming"
    TESTNET = "testnet"
    BOOTSTRAP = "bootstrap"
    FEES = "fees"
    HOOK = "hook"
    SELF_IMPROVEMENT = "self_improvement"
    CODING = "coding"


class CapabilityTier(StrEnum):
    """Who may run a tool: anyone with it, a permit holder, or a permit holder with an owner's approval."""

    READ = "READ"
    WRITE = "WRITE"
    PRIVILEGED = "PRIVILEGED"


class RiskLayer(IntEnum):
    """The static risk of a tool. Layer 3 is leverage, flash loans, options, novel protocols, cross-chain, batches."""

    LOW = 1
    BOUNDED = 2
    UNBOUNDED = 3


class RiskTier(StrEnum):
    """The risk of one call, computed from category, value and venue."""

    ROUTINE = "ROUTINE"
    STANDARD = "STANDARD"
    ELEVATED = "ELEVATED"
    HIGH = "HIGH"
    CRITICAL = "CRITICAL"


class ActionClass(StrEnum):
    """What a call does to the golem's exposure; phases allow or refuse by it."""

    NEW_POSITION = "NEW_POSITION"
    INCREASE_POSITION = "INCREASE_POSITION"
    REBALANCE = "REBALANCE"
    DECREASE_POSITION = "DECREASE_POSITION"
    CLOSE_POSITION = "CLOSE_POSITION"
    READ_ONLY = "READ_ONLY"


LEAVING = frozenset({ActionClass.DECREASE_POSITION, ActionClass.CLOSE_POSITION})
"""Actions that take money out of a position: what forbids new risk lets them pass."""

ENTERING = frozenset({ActionClass.NEW_POSITION, ActionClass.INCREASE_POSITION})
"""Actions that put money into one."""


class TickBudget(IntEnum):
    """The most milliseconds a tool may take."""

    FAST = 1_000
    MEDIUM = 5_000
    SLOW = 15_000


class SpriteTrigger(StrEnum):
    """The state a page or terminal shows while a tool runs."""

    THINKING = "THINKING"
    EXECUTING = "EXECUTING"
    SUCCESS = "SUCCESS"
    FAILURE = "FAILURE"


class Requirement(StrEnum):
    """What must be set up before a tool exists for a golem."""

    WALLET = "wallet"
    MEMORY = "memory"
    SMART_WALLET = "smart_wallet"


class ServiceNeed(str):
    """A requirement by the name of a service: the golem's owner switched it on, with the key it wants."""

    __slots__ = ()

    @property
    def value(self) -> str:
        """Its name, as a requirement of the closed list has one."""
        return str(self)


Need: TypeAlias = Requirement | ServiceNeed
"""What a tool may need."""


class PiTool(StrEnum):
    """The eight tools a golem's language model sees."""

    PREVIEW_ACTION = "preview_action"
    COMMIT_ACTION = "commit_action"
    CANCEL_ACTION = "cancel_action"
    QUERY_STATE = "query_state"
    SEARCH_CONTEXT = "search_context"
    QUERY_GRIMOIRE = "query_grimoire"
    UPDATE_DIRECTIVE = "update_directive"
    EMERGENCY_HALT = "emergency_halt"


class EngineSetting(StrEnum):
    """Which engines simulate a golem's plans: by risk tier, one of them first, or always both."""

    AUTO = "auto"
    RPC = "rpc"
    PYEVM = "pyevm"
    BOTH = "both"


class Phase(StrEnum):
    """How much life a golem has left; phases only get worse by themselves. Other words for one are taken for it."""

    THRIVING = "THRIVING"
    CAUTIOUS = "CAUTIOUS"
    DEFENSIVE = "DEFENSIVE"
    SURVIVAL = "SURVIVAL"
    TERMINAL = "TERMINAL"

    @classmethod
    def _missing_(cls, value: object) -> Phase | None:
        word = str(value).strip().upper()
        return cls.__members__.get(_OTHER_WORDS.get(word, word))


_OTHER_WORDS: Final = {
    "STABLE": "CAUTIOUS",
    "CONSERVATION": "DEFENSIVE",
    "DECLINING": "SURVIVAL",
    "DESPERATE": "SURVIVAL",
}
