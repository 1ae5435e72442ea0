"""Rows of who a golem is."""

from __future__ import annotations

from archetypes_app.models.agent_sign_in import AccessToken, AgentSignIn
from archetypes_app.models.api_key import ApiKey
from archetypes_app.models.archetype import Archetype
from archetypes_app.models.artifact import Artifact
from archetypes_app.models.chat import ChatStep, ChatTurn
from archetypes_app.models.coding_workspace import CodingWorkspace
from archetypes_app.models.deactivation_followup import StoppedAccount
from archetypes_app.models.definition_approval import DefinitionApproval
from archetypes_app.models.golem import Golem, PhaseTransition
from archetypes_app.models.member import GolemMember, Invitation, SignIn
from archetypes_app.models.model_spend import ModelSpendDay
from archetypes_app.models.override import ToolOverride
from archetypes_app.models.profile import ToolProfile
from archetypes_app.models.seen_definition import SeenDefinition
from archetypes_app.models.service_access import KeptAnswer, ServiceAccess
from archetypes_app.models.tick import AlertBatch, DecisionCycleRecord, Heartbeat, HeartbeatTick
from archetypes_app.models.vitality import VitalityRecord

__all__ = [
    "AccessToken",
    "AgentSignIn",
    "AlertBatch",
    "ApiKey",
    "Archetype",
    "Artifact",
    "CodingWorkspace",
    "ChatStep",
    "ChatTurn",
    "DecisionCycleRecord",
    "DefinitionApproval",
    "Golem",
    "GolemMember",
    "Heartbeat",
    "HeartbeatTick",
    "Invitation",
    "KeptAnswer",
    "ModelSpendDay",
    "PhaseTransition",
    "SeenDefinition",
    "ServiceAccess",
    "SignIn",
    "StoppedAccount",
    "ToolOverride",
    "ToolProfile",
    "VitalityRecord",
]
