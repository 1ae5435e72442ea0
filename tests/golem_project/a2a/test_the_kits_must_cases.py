"""Each MUST of the protocol's public test kit (a2aproject/a2a-tck), for 1.0 and for 0.3: the test here that holds it,
or by name why none does.

The kit drives an agent of its own: what a task does follows from the id and the words of a message, which here decide
nothing. So each case is asked of this server in raw HTTP, by tests of this directory; what only the kit's list brought
is below.
Of 1.0 the kit's text is 1.0.1, whose table of errors (section 5.4) differs from that of 1.0.0.
"""

from __future__ import annotations

import base64
import json
import queue
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import jwt
import pytest

from archetypes_app.models import ApiKey
from golem_project.a2a.models import PushConfig, Task, TaskState
from golem_project.a2a.task_states import move_task
from tests import factories
from tests.golem_project.a2a.conftest import JSON_RPC, REST, Line
from tests.golem_project.a2a.test_what_the_specification_requires import (
    NOBODYS,
    answers,
    asks,
    both,
    is_refused,
    make_task,
    message,
)
from tests.golem_project.pi.conftest import MakeAgent
from tools_app.core import clock

pytestmark = pytest.mark.django_db(transaction=True)

NO_GRPC = "the card offers no gRPC"
OFFERED = "asks an agent that does not offer it; the card offers it"
NOTHING_REQUIRED = "asks an agent whose card requires an extension; the card requires none"
NO_SECOND_CREDENTIAL = "asks an agent that needs a second credential in the middle of a task; no tool does"
OF_CLIENTS = "asks the client, not the server"
OF_DEPLOYMENTS = "asks how a server is deployed, and the kit asks nobody; settings of production redirect to TLS"
OWN_TEXTS = "asks what the kit's own agent does on the kit's own texts"
NO_CASE = "the kit asks nothing there: it prints, or passes whatever is answered"
NOT_DECLARED = "asks about a scheme that the card does not declare"
FORBIDDEN_WORDS = "forbids the words token and key in a card, whatever they say: skills here trade tokens"
OF_A_DRAFT = "asks what a draft between 0.3 and 1.0 said and neither says"
REASONS = frozenset(
    {
        NO_GRPC,
        OFFERED,
        NOTHING_REQUIRED,
        NO_SECOND_CREDENTIAL,
        OF_CLIENTS,
        OF_DEPLOYMENTS,
        OWN_TEXTS,
        NO_CASE,
        NOT_DECLARED,
        FORBIDDEN_WORDS,
        OF_A_DRAFT,
    }
)

_HERE = "test_the_kits_must_cases::test_"
_SPEC = "test_what_the_specification_requires::test_"
_TYPES = "test_published_types::test_"
_BAD = "test_bad_messages::test_"
_CARDS = "test_cards::test_"
_PUSH = "test_notifications::test_"
_WAITING = "test_waiting_tasks::test_"
_REFUSED = f"{_HERE}who_is_refused_by_json_rpc_is_told_code_message_and_their_own_id"
_NO_TOKEN = f"{_HERE}no_operation_answers_without_a_token_that_is_known"
_FOLLOWS = f"{_HERE}who_follows_an_open_task_hears_each_change_in_order_whoever_else_hangs_up"
_PAGES = f"{_SPEC}tasks_are_listed_by_pages_the_newest_first_without_artifacts_unless_asked_for"

MUST_OF_1_0: Mapping[str, str] = {
    "CORE-SEND-001": f"{_SPEC}a_message_is_answered_by_a_task_or_a_message_and_never_both",
    "CORE-SEND-002": f"{_SPEC}a_message_to_a_task_that_has_ended_is_an_unsupported_operation",
    "CORE-SEND-003": f"{_SPEC}a_kind_of_part_that_nobody_takes_is_an_unsupported_content_type",
    "CORE-STREAM-001": f"{_SPEC}a_stream_begins_with_the_task_tells_what_follows_and_closes_at_the_end",
    "CORE-STREAM-002": f"{_SPEC}a_stream_that_answers_by_a_message_holds_that_one_alone",
    "CORE-STREAM-003": f"{_SPEC}a_stream_begins_with_the_task_tells_what_follows_and_closes_at_the_end",
    "CORE-GET-001": f"{_SPEC}a_task_has_its_required_members_and_a_state_of_the_enumeration",
    "CORE-GET-002": f"{_SPEC}a_task_that_is_not_there_is_not_found",
    "CORE-LIST-001": f"{_HERE}a_task_of_another_owner_is_nowhere",
    "CORE-LIST-002": _PAGES,
    "CORE-LIST-003": f"{_HERE}the_task_that_changed_last_is_listed_first_and_takes_no_page_with_it",
    "CORE-LIST-004": _PAGES,
    "CORE-LIST-005": _PAGES,
    "CORE-CANCEL-001": f"{_WAITING}cancelling_a_task_cancels_its_permit_and_only_while_that_is_possible",
    "CORE-CANCEL-002": f"{_SPEC}a_task_that_has_ended_is_neither_cancelled_nor_followed",
    "CORE-CANCEL-003": f"{_SPEC}a_task_that_is_not_there_is_not_found",
    "CORE-EXECUTION-MODE-001": f"{_SPEC}who_does_not_wait_is_answered_with_the_task_and_who_waits_with_its_end",
    "CORE-EXECUTION-MODE-002": f"{_SPEC}who_does_not_wait_is_answered_with_the_task_and_who_waits_with_its_end",
    "CORE-ERR-001": f"{_BAD}a_refusal_teaches_the_same_as_over_rest",
    "CORE-ERR-002": f"{_SPEC}what_is_malformed_is_refused_before_anything_is_done",
    "CORE-CAP-001": OFFERED,
    "CORE-CAP-002": OFFERED,
    "CORE-CAP-003": OFFERED,
    "CORE-CAP-004": NOTHING_REQUIRED,
    "CORE-MULTI-001a": f"{_SPEC}a_context_is_made_kept_inferred_and_never_mismatched",
    "CORE-MULTI-002a": f"{_HERE}a_context_that_cannot_be_kept_is_refused_and_not_replaced",
    "CORE-MULTI-003": f"{_SPEC}a_context_is_made_kept_inferred_and_never_mismatched",
    "CORE-MULTI-004": f"{_SPEC}a_message_to_a_task_that_is_not_there_is_not_found",
    "CORE-MULTI-005": f"{_HERE}the_context_of_a_message_to_an_open_task_is_that_of_the_task",
    "CORE-MULTI-006": f"{_HERE}the_context_of_a_message_to_an_open_task_is_that_of_the_task",
    "CORE-HIST-002": f"{_HERE}a_history_is_no_longer_than_was_asked_for",
    "DM-TASK-001": f"{_TYPES}answers_of_1_0_are_of_its_published_types",
    "DM-TASK-002": f"{_SPEC}a_task_has_its_required_members_and_a_state_of_the_enumeration",
    "DM-MSG-001": f"{_HERE}a_message_of_the_agent_says_its_role_its_id_and_its_parts",
    "DM-MSG-002": f"{_HERE}a_message_of_the_agent_says_its_role_its_id_and_its_parts",
    "DM-PART-001": f"{_SPEC}a_task_has_its_required_members_and_a_state_of_the_enumeration",
    "DM-ART-001": f"{_SPEC}a_task_has_its_required_members_and_a_state_of_the_enumeration",
    "DM-STATUS-001": f"{_SPEC}a_task_has_its_required_members_and_a_state_of_the_enumeration",
    "DM-SERIAL-001": f"{_SPEC}member_names_are_camel_case_outside_what_a_tool_answered",
    "DM-SERIAL-002": f"{_SPEC}a_task_has_its_required_members_and_a_state_of_the_enumeration",
    "DM-SERIAL-003": f"{_SPEC}a_task_has_its_required_members_and_a_state_of_the_enumeration",
    "DM-SERIAL-004": f"{_TYPES}answers_of_1_0_are_of_its_published_types",
    "STREAM-ORDER-001": _FOLLOWS,
    "STREAM-ORDER-002": _FOLLOWS,
    "STREAM-ORDER-003": _FOLLOWS,
    "STREAM-ORDER-004": _FOLLOWS,
    "STREAM-SUB-001": _FOLLOWS,
    "STREAM-SUB-002": _FOLLOWS,
    "STREAM-SUB-003": f"{_SPEC}a_task_that_has_ended_is_neither_cancelled_nor_followed",
    "STREAM-SUB-004": f"{_SPEC}a_task_that_is_not_there_is_not_found",
    "PUSH-CREATE-001": f"{_HERE}an_address_is_named_read_listed_and_forgotten_once_and_again",
    "PUSH-CREATE-002": f"{_HERE}an_address_stays_while_its_task_changes",
    "PUSH-GET-001": f"{_HERE}an_address_is_named_read_listed_and_forgotten_once_and_again",
    "PUSH-GET-002": f"{_HERE}an_address_is_named_read_listed_and_forgotten_once_and_again",
    "PUSH-LIST-001": f"{_HERE}an_address_is_named_read_listed_and_forgotten_once_and_again",
    "PUSH-DEL-001": f"{_HERE}an_address_is_named_read_listed_and_forgotten_once_and_again",
    "PUSH-DEL-002": f"{_HERE}an_address_is_named_read_listed_and_forgotten_once_and_again",
    "PUSH-DELIVER-001": f"{_PUSH}each_change_reaches_the_receiver_signed",
    "PUSH-DELIVER-002": f"{_PUSH}each_change_reaches_the_receiver_signed",
    "PUSH-DELIVER-003": f"{_PUSH}one_change_is_one_notification_for_each_address",
    "CARD-DISC-001": f"{_SPEC}the_card_is_public_cached_and_of_the_version_that_was_asked_for",
    "CARD-PROTO-001": f"{_CARDS}the_card_is_the_same_at_both_paths_and_reads_in_both_versions",
    "CARD-PROTO-002": f"{_HERE}each_interface_of_the_card_answers_at_its_address",
    "CARD-STRUCT-001": f"{_TYPES}the_card_is_of_the_published_schema",
    "CARD-EXT-001": _NO_TOKEN,
    "CARD-EXT-002": OFFERED,
    "CARD-SIGN-001": f"{_HERE}the_signature_is_over_the_canonical_card_without_its_signatures",
    "CARD-SIGN-002": f"{_HERE}the_signature_is_over_the_canonical_card_without_its_signatures",
    "CARD-SIGN-003": f"{_HERE}the_signature_is_over_the_canonical_card_without_its_signatures",
    "CARD-SIGN-004": OF_CLIENTS,
    "AUTH-TLS-001": OF_DEPLOYMENTS,
    "AUTH-SERVER-002": _NO_TOKEN,
    "AUTH-INTASK-001": NO_SECOND_CREDENTIAL,
    "AUTH-INTASK-002": NO_SECOND_CREDENTIAL,
    "AUTH-INTASK-003": NO_SECOND_CREDENTIAL,
    "AUTH-INTASK-004": NO_SECOND_CREDENTIAL,
    "AUTH-SCOPE-001": _NO_TOKEN,
    "AUTH-SCOPE-002": f"{_HERE}a_task_of_another_owner_is_nowhere",
    "AUTH-SCOPE-003": f"{_HERE}a_task_of_another_owner_is_nowhere",
    "VER-CLIENT-001": OF_CLIENTS,
    "VER-CLIENT-002": f"{_SPEC}a_patch_number_decides_nothing_and_no_version_means_0_3",
    "VER-SERVER-001": f"{_SPEC}0_3_answers_its_methods_in_its_own_words",
    "VER-SERVER-002": f"{_SPEC}a_version_that_is_not_spoken_is_refused_as_such",
    "VER-SERVER-003": f"{_SPEC}a_patch_number_decides_nothing_and_no_version_means_0_3",
    "BIND-EQUIV-001": f"{_HERE}each_operation_is_at_both_bindings_and_means_the_same",
    "BIND-EQUIV-002": f"{_HERE}each_operation_is_at_both_bindings_and_means_the_same",
    "BIND-EQUIV-003": f"{_HERE}each_error_of_the_protocol_has_its_code_and_its_status",
    "BIND-EQUIV-004": _NO_TOKEN,
    "BIND-FIELD-001": f"{_CARDS}the_card_is_the_same_at_both_paths_and_reads_in_both_versions",
    "JSONRPC-FMT-001": f"{_BAD}what_is_wrong_is_told_in_the_protocols_codes",
    "JSONRPC-FMT-002": f"{_HERE}extensions_are_a_header_and_an_answer_is_json",
    "JSONRPC-SVC-001": f"{_HERE}each_operation_is_at_both_bindings_and_means_the_same",
    "JSONRPC-SVC-002": f"{_HERE}extensions_are_a_header_and_an_answer_is_json",
    "JSONRPC-ERR-001": _REFUSED,
    "JSONRPC-ERR-002": f"{_HERE}each_error_of_the_protocol_has_its_code_and_its_status",
    "JSONRPC-SSE-001": f"{_TYPES}what_a_stream_of_1_0_tells_is_of_the_published_schema",
    "JSONRPC-SSE-002": f"{_HERE}each_error_of_the_protocol_has_its_code_and_its_status",
    "HTTP_JSON-URL-001": f"{_HERE}each_operation_is_at_both_bindings_and_means_the_same",
    "HTTP_JSON-URL-002": f"{_HERE}each_operation_is_at_both_bindings_and_means_the_same",
    "HTTP_JSON-SVC-002": f"{_HERE}extensions_are_a_header_and_an_answer_is_json",
    "HTTP_JSON-QP-001": f"{_HERE}tasks_are_found_by_what_they_are_filtered_by",
    "HTTP_JSON-ERR-001": f"{_HERE}every_refusal_over_http_has_its_status_in_the_protocols_form",
    "HTTP_JSON-ERR-002": f"{_HERE}every_refusal_over_http_has_its_status_in_the_protocols_form",
    "HTTP_JSON-STATUS-001": f"{_HERE}each_error_of_the_protocol_has_its_code_and_its_status",
    "HTTP_JSON-SSE-001": f"{_SPEC}a_stream_begins_with_the_task_tells_what_follows_and_closes_at_the_end",
    "GRPC-SVC-001": NO_GRPC,
    "GRPC-SVC-002": NO_GRPC,
    "GRPC-SVC-003": NO_GRPC,
    "GRPC-META-001": NO_GRPC,
    "GRPC-ERR-001": NO_GRPC,
    "GRPC-ERR-002": NO_GRPC,
    "GRPC-ERR-003": NO_GRPC,
}
"""By the kit's id of a requirement. Its SHOULD and MAY (CORE-HIST-001, CARD-CACHE-001 and others) are not listed."""

MANDATORY_OF_0_3: Mapping[str, str] = {
    # tests/mandatory/authentication
    "test_authentication_required_when_declared": _NO_TOKEN,
    "test_invalid_credentials_rejected": _NO_TOKEN,
    "test_authentication_scheme_consistency": f"{_HERE}the_schemes_that_0_3_is_told_are_whole_and_those_required",
    "test_security_scheme_structure_compliance": f"{_HERE}the_schemes_that_0_3_is_told_are_whole_and_those_required",
    "test_authentication_transport_consistency": _NO_TOKEN,
    "test_security_error_response_compliance": _NO_TOKEN,
    "test_oauth2_metadata_url_validation": NOT_DECLARED,
    "test_mutual_tls_scheme_declaration": NOT_DECLARED,
    # tests/mandatory/jsonrpc
    "test_rejects_malformed_json": _REFUSED,
    "test_rejects_invalid_json_rpc_requests": _REFUSED,
    "test_rejects_unknown_method": _REFUSED,
    "test_rejects_invalid_params": _REFUSED,
    "test_duplicate_request_ids": f"{_HERE}the_same_request_id_twice_is_two_requests",
    "test_invalid_jsonrpc_version": _REFUSED,
    "test_missing_method_field": _REFUSED,
    "test_raw_invalid_json": _REFUSED,
    "test_push_notification_not_supported_error_32003": OFFERED,
    "test_push_notification_not_supported_error_32003_enhanced": OFFERED,
    "test_unsupported_operation_error_32004": f"{_SPEC}0_3_answers_its_methods_in_its_own_words",
    "test_unsupported_operation_error_32004_enhanced": f"{_SPEC}0_3_answers_its_methods_in_its_own_words",
    "test_content_type_not_supported_error_32005": f"{_HERE}a_file_is_no_content_that_0_3_brings_here",
    "test_content_type_not_supported_error_32005_enhanced": f"{_HERE}a_file_is_no_content_that_0_3_brings_here",
    "test_invalid_agent_response_error_32006": NO_CASE,
    "test_invalid_agent_response_error_32006_enhanced": NO_CASE,
    "test_a2a_error_code_coverage_summary": NO_CASE,
    "test_a2a_error_code_coverage_enhanced": NO_CASE,
    # tests/mandatory/protocol
    "test_agent_card_available": f"{_SPEC}the_card_is_public_cached_and_of_the_version_that_was_asked_for",
    # These two ask for `protocolVersions` too, which is a draft's and in no published type.
    "test_mandatory_fields_present": f"{_SPEC}the_card_is_public_cached_and_of_the_version_that_was_asked_for",
    "test_agent_card_mandatory_fields": f"{_SPEC}the_card_is_public_cached_and_of_the_version_that_was_asked_for",
    "test_mandatory_field_types": f"{_SPEC}the_card_is_public_cached_and_of_the_version_that_was_asked_for",
    "test_agent_card_capabilities_mandatory": f"{_HERE}what_0_3_is_told_of_the_golem_is_said_in_full",
    "test_agent_card_skills_mandatory": f"{_HERE}what_0_3_is_told_of_the_golem_is_said_in_full",
    "test_agent_card_input_output_modes_mandatory": f"{_HERE}what_0_3_is_told_of_the_golem_is_said_in_full",
    "test_agent_card_basic_info_mandatory": f"{_HERE}what_0_3_is_told_of_the_golem_is_said_in_full",
    "test_extended_agent_card_endpoint_exists": f"{_HERE}who_holds_a_token_is_told_the_extended_card_by_0_3_too",
    "test_extended_agent_card_authentication_required": _NO_TOKEN,
    "test_extended_agent_card_invalid_authentication": _NO_TOKEN,
    "test_extended_agent_card_response_format": f"{_HERE}who_holds_a_token_is_told_the_extended_card_by_0_3_too",
    "test_authenticated_extended_card_method_exists": f"{_HERE}who_holds_a_token_is_told_the_extended_card_by_0_3_too",
    "test_authenticated_extended_card_without_auth": _NO_TOKEN,
    "test_core_method_mapping_compliance": f"{_HERE}the_methods_of_0_3_are_at_their_places_over_http_too",
    "test_transport_specific_method_naming": OF_CLIENTS,
    "test_message_send_valid_text": f"{_HERE}a_message_of_the_agent_says_its_role_its_id_and_its_parts",
    "test_message_send_invalid_params": _REFUSED,
    "test_message_send_continue_task": f"{_HERE}the_context_of_a_message_to_an_open_task_is_that_of_the_task",
    "test_task_history_length": f"{_HERE}a_history_is_no_longer_than_was_asked_for",
    "test_tasks_get_valid": f"{_SPEC}0_3_answers_its_methods_in_its_own_words",
    "test_tasks_get_with_history_length": f"{_HERE}the_methods_of_0_3_are_at_their_places_over_http_too",
    "test_tasks_get_nonexistent": f"{_SPEC}a_patch_number_decides_nothing_and_no_version_means_0_3",
    # It cancels what a plain text began: here text begins nothing.
    "test_tasks_cancel_valid": f"{_WAITING}cancelling_a_task_cancels_its_permit_and_only_while_that_is_possible",
    "test_tasks_cancel_nonexistent": f"{_HERE}the_methods_of_0_3_are_at_their_places_over_http_too",
    # tests/mandatory/protocol/test_tasks_list_method.py: of a draft after 0.3, which has no such method; asked of 1.0.
    # There `pageSize` of an answer is how many were found; in 1.0 it is how many a page has.
    "test_list_all_tasks": f"{_TYPES}answers_of_1_0_are_of_its_published_types",
    "test_list_tasks_empty_when_none_exist": f"{_HERE}tasks_are_found_by_what_they_are_filtered_by",
    "test_list_tasks_validates_required_fields": f"{_TYPES}answers_of_1_0_are_of_its_published_types",
    "test_list_tasks_sorted_by_timestamp_descending": (
        f"{_HERE}the_task_that_changed_last_is_listed_first_and_takes_no_page_with_it"
    ),
    "test_filter_by_context_id": f"{_HERE}tasks_are_found_by_what_they_are_filtered_by",
    "test_filter_by_status": f"{_HERE}tasks_are_found_by_what_they_are_filtered_by",
    "test_filter_by_last_updated_after": f"{_HERE}tasks_are_found_by_what_they_are_filtered_by",
    "test_combined_filters": f"{_HERE}tasks_are_found_by_what_they_are_filtered_by",
    "test_default_page_size": OF_A_DRAFT,
    "test_custom_page_size": f"{_HERE}a_page_has_fifty_tasks_or_as_many_as_were_asked_for",
    "test_page_token_navigation": f"{_HERE}a_page_has_fifty_tasks_or_as_many_as_were_asked_for",
    "test_last_page_detection": _PAGES,
    "test_total_size_accuracy": f"{_HERE}a_page_has_fifty_tasks_or_as_many_as_were_asked_for",
    "test_history_length_zero": f"{_HERE}a_history_is_no_longer_than_was_asked_for",
    "test_history_length_custom": f"{_HERE}a_history_is_no_longer_than_was_asked_for",
    "test_history_length_exceeds_actual": f"{_HERE}a_history_is_no_longer_than_was_asked_for",
    "test_artifacts_excluded_by_default": (_PAGES),
    "test_artifacts_included_when_requested": (_PAGES),
    "test_invalid_page_token_error": f"{_HERE}what_no_list_can_be_asked_for_is_refused",
    "test_invalid_status_error": f"{_HERE}what_no_list_can_be_asked_for_is_refused",
    "test_negative_page_size_error": f"{_HERE}what_no_list_can_be_asked_for_is_refused",
    "test_zero_page_size_error": f"{_HERE}what_no_list_can_be_asked_for_is_refused",
    "test_out_of_range_page_size_error": f"{_HERE}what_no_list_can_be_asked_for_is_refused",
    "test_default_page_size_is_50": f"{_HERE}a_page_has_fifty_tasks_or_as_many_as_were_asked_for",
    "test_negative_history_length_error": f"{_HERE}what_no_list_can_be_asked_for_is_refused",
    "test_invalid_timestamp_error": f"{_HERE}what_no_list_can_be_asked_for_is_refused",
    # tests/mandatory/quality
    "test_invalid_method_error_validation": _REFUSED,
    "test_invalid_params_error_validation": _REFUSED,
    "test_nonexistent_resource_error_validation": f"{_SPEC}a_patch_number_decides_nothing_and_no_version_means_0_3",
    "test_error_consistency_across_methods": NO_CASE,
    "test_error_response_completeness": NO_CASE,
    # tests/mandatory/security
    "test_public_agent_card_access_control": f"{_SPEC}the_card_is_public_cached_and_of_the_version_that_was_asked_for",
    "test_extended_card_access_controls": _NO_TOKEN,
    "test_authentication_scheme_validation": _NO_TOKEN,
    "test_sensitive_information_protection": FORBIDDEN_WORDS,
    "test_security_scheme_consistency": f"{_HERE}the_schemes_that_0_3_is_told_are_whole_and_those_required",
    "test_auth_required_state_support": NO_CASE,
    "test_in_task_authentication_workflow": OWN_TEXTS,
    "test_authentication_challenge_headers": _NO_TOKEN,
    "test_invalid_authentication_handling": _NO_TOKEN,
    "test_auth_state_transitions": OWN_TEXTS,
    # tests/mandatory/transport
    "test_message_sending_equivalence": f"{_HERE}the_methods_of_0_3_are_at_their_places_over_http_too",
    "test_task_retrieval_equivalence": f"{_HERE}the_methods_of_0_3_are_at_their_places_over_http_too",
    "test_agent_card_access_equivalence": f"{_CARDS}the_card_is_the_same_at_both_paths_and_reads_in_both_versions",
    "test_error_handling_equivalence": f"{_HERE}the_methods_of_0_3_are_at_their_places_over_http_too",
    "test_performance_equivalence": NO_CASE,
    "test_concurrent_operation_equivalence": f"{_HERE}the_same_request_id_twice_is_two_requests",
}
"""By the kit's name of a test, in the order of its directories: the suite it had before 1.0."""

Call = tuple[str, Mapping[str, Any], str, str]
_CONFIGS = "/pushNotificationConfigs"


def _operations(task_id: str) -> list[Call]:
    """Each operation of 1.0: its method, its parameters, its verb and its place over HTTP (section 5.3)."""
    task, config = {"id": task_id}, {"taskId": task_id, "id": "one"}
    named = {**config, "url": "http://127.0.0.1/told"}
    return [
        ("SendMessage", message({"text": "hello"}), "POST", "/message:send"),
        ("SendStreamingMessage", message({"text": "hello"}), "POST", "/message:stream"),
        ("GetTask", task, "GET", f"/tasks/{task_id}"),
        ("ListTasks", {}, "GET", "/tasks"),
        ("CancelTask", task, "POST", f"/tasks/{task_id}:cancel"),
        ("SubscribeToTask", task, "POST", f"/tasks/{task_id}:subscribe"),
        ("CreateTaskPushNotificationConfig", named, "POST", f"/tasks/{task_id}{_CONFIGS}"),
        ("GetTaskPushNotificationConfig", config, "GET", f"/tasks/{task_id}{_CONFIGS}/one"),
        ("ListTaskPushNotificationConfigs", {"taskId": task_id}, "GET", f"/tasks/{task_id}{_CONFIGS}"),
        ("DeleteTaskPushNotificationConfig", config, "DELETE", f"/tasks/{task_id}{_CONFIGS}/one"),
        ("GetExtendedAgentCard", {}, "GET", "/extendedAgentCard"),
    ]


@pytest.fixture
def make_line(make_agent: MakeAgent, web_port: int, eager_work: None, settings: Any) -> Callable[[], Line]:
    """To another golem of another owner each time, from where loopback may be notified."""
    settings.GOLEM_WEBHOOK_ALLOWS_PRIVATE_ADDRESSES = True

    def make() -> Line:
        agent = make_agent()
        return Line(f"http://127.0.0.1:{web_port}/a2a/{agent.golem.pk}", agent.key.token, agent.golem)

    return make


@pytest.fixture
def line(make_line: Callable[[], Line]) -> Line:
    """To a golem without funds."""
    return make_line()


def _call(line: Line, binding: str, call: Call, **headers: str) -> httpx.Response:
    """One operation over one binding; a header that is empty is left out."""
    method, params, verb, place = call
    sent = {"A2A-Version": "1.0", "Authorization": f"Bearer {line.token}", "Content-Type": "application/json"}
    sent = {name: value for name, value in {**sent, **headers}.items() if value}
    if binding == JSON_RPC:
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": dict(params)}
        return httpx.post(f"{line.url}/", json=body, headers=sent, timeout=60)
    content = {name: value for name, value in params.items() if name != "taskId"} if verb == "POST" else None
    return httpx.request(verb, f"{line.url}/rest{place}", json=content, headers=sent, timeout=60)


def _answer(response: httpx.Response, binding: str) -> Any:
    assert response.status_code == 200, response.text
    return response.json()["result"] if binding == JSON_RPC else response.json()


def _make_open(line: Line, **columns: Any) -> Task:
    """A task of the line's token that some process works on."""
    key = ApiKey.objects.get(golem=line.golem)
    row = factories.make_a2a_task(golem=line.golem, api_key=key, lease_until=clock.now() + timedelta(hours=1))
    Task.objects.filter(pk=row.pk).update(**{"context_id": row.context_id, **columns})
    return Task.objects.get(pk=row.pk)


def _end(row: Task) -> None:
    now, ended = clock.now(), TaskState.COMPLETED
    assert move_task(task_id=row.pk, leaving=[TaskState.WORKING, TaskState.INPUT_REQUIRED], to=ended, now=now)


def test_each_case_of_the_kit_is_held_by_a_test_that_is_there_or_left_out_by_name() -> None:
    there = {
        f"{path.stem}::{name}"
        for path in Path(__file__).parent.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)\(", path.read_text(), re.MULTILINE)
    }
    cases = {*MUST_OF_1_0.values(), *MANDATORY_OF_0_3.values()}
    assert sorted(cases - there - REASONS) == []
    assert sorted(REASONS - cases) == [], "a reason that nothing has"


@both
def test_each_operation_is_at_both_bindings_and_means_the_same(line: Line, binding: str) -> None:
    task = make_task(line, JSON_RPC)
    for call in _operations(task["id"]):
        response = _call(line, binding, call)
        if call[0] in ("CancelTask", "SubscribeToTask"):
            ended = {"CancelTask": "TASK_NOT_CANCELABLE", "SubscribeToTask": "UNSUPPORTED_OPERATION"}
            is_refused(response, binding, ended[call[0]])
        else:
            assert response.status_code == 200 and '"error"' not in response.text, (call[0], response.text)
    assert answers(line, binding, "GetTask", {"id": task["id"]}) == answers(line, REST, "GetTask", {"id": task["id"]})


@both
def test_no_operation_answers_without_a_token_that_is_known(line: Line, binding: str) -> None:
    for call in _operations(NOBODYS):
        for handed in ("", "Bearer golem_nobodys", "Bearer visit_nobodys", "Basic aW52YWxpZDppbnZhbGlk", "golem"):
            response = _call(line, binding, call, Authorization=handed)
            assert response.status_code == 401, (call[0], handed)
            assert response.headers["WWW-Authenticate"].startswith("Bearer"), (call[0], handed)
    asked = {"jsonrpc": "2.0", "id": 7, "method": "agent/getAuthenticatedExtendedCard"}
    for version in ("0.3", ""):
        headers = {"A2A-Version": version} if version else {}
        assert httpx.post(f"{line.url}/", json=asked, headers=headers).status_code == 401
        assert httpx.get(f"{line.url}/rest/v1/card", headers=headers).status_code == 401


@both
def test_a_task_of_another_owner_is_nowhere(make_line: Callable[[], Line], binding: str) -> None:
    mine, theirs = make_line(), make_line()
    task = make_task(mine, binding)
    config = ("CreateTaskPushNotificationConfig", {"taskId": task["id"], "id": "one", "url": "http://127.0.0.1/"})
    assert _call(mine, binding, (*config, "POST", f"/tasks/{task['id']}{_CONFIGS}")).status_code == 200
    for theirs_call, nobodys_call in zip(_operations(task["id"]), _operations(NOBODYS), strict=True):
        if "taskId" not in theirs_call[1] and "id" not in theirs_call[1]:
            continue
        refused, absent = (_call(theirs, binding, call) for call in (theirs_call, nobodys_call))
        is_refused(refused, binding, "TASK_NOT_FOUND")
        told, same = (re.sub(task["id"], NOBODYS, each.text) for each in (refused, absent))
        assert re.sub(r'"request_id[^,}]*', "", told) == re.sub(r'"request_id[^,}]*', "", same), theirs_call[0]
    listed = answers(theirs, binding, "ListTasks", {})
    assert listed["tasks"] == [] and listed["totalSize"] == 0
    assert PushConfig.objects.count() == 1
    # Nor with a token of theirs at the other's address.
    stolen = Line(mine.url, theirs.token, mine.golem)
    assert _call(stolen, binding, _operations(task["id"])[2]).status_code == 404


@both
def test_the_task_that_changed_last_is_listed_first_and_takes_no_page_with_it(line: Line, binding: str) -> None:
    rows = [_make_open(line) for _ in range(5)]
    _end(rows[0])
    order = [str(rows[number].pk) for number in (0, 4, 3, 2, 1)]
    listed = answers(line, binding, "ListTasks", {})["tasks"]
    assert [each["id"] for each in listed] == order
    moments = [each["status"]["timestamp"] for each in listed]
    assert moments == sorted(moments, reverse=True)
    first = answers(line, binding, "ListTasks", {"pageSize": 3})
    # The last of this page changes before the next one is asked for.
    _end(rows[3])
    rest = answers(line, binding, "ListTasks", {"pageSize": 3, "pageToken": first["nextPageToken"]})
    assert [each["id"] for each in (*first["tasks"], *rest["tasks"])] == order


@both
def test_a_page_has_fifty_tasks_or_as_many_as_were_asked_for(line: Line, binding: str) -> None:
    rows = [_make_open(line) for _ in range(60)]
    told = answers(line, binding, "ListTasks", {})
    assert (len(told["tasks"]), told["pageSize"], told["totalSize"]) == (50, 50, 60) and told["nextPageToken"]
    seen: list[str] = []
    token = ""
    while token or not seen:
        page = answers(line, binding, "ListTasks", {"pageSize": 25, **({"pageToken": token} if token else {})})
        assert (page["pageSize"], page["totalSize"]) == (25, 60)
        seen += [each["id"] for each in page["tasks"]]
        token = page["nextPageToken"]
    assert seen == [str(row.pk) for row in reversed(rows)]


@both
def test_tasks_are_found_by_what_they_are_filtered_by(line: Line, binding: str) -> None:
    ours, theirs, ended = _make_open(line, context_id="ours"), _make_open(line), _make_open(line, context_id="ours")
    _end(ended)
    ended.refresh_from_db()
    before = (ended.updated_at - timedelta(microseconds=1)).isoformat().replace("+00:00", "Z")
    for asked, found in (
        ({"contextId": "ours"}, [ended, ours]),
        ({"status": "TASK_STATE_WORKING"}, [theirs, ours]),
        ({"contextId": "ours", "status": "TASK_STATE_WORKING"}, [ours]),
        ({"statusTimestampAfter": before}, [ended]),
        ({"contextId": "nobodys"}, []),
    ):
        told = answers(line, binding, "ListTasks", asked)
        assert [each["id"] for each in told["tasks"]] == [str(row.pk) for row in found], asked
        assert (told["totalSize"], told["nextPageToken"]) == (len(found), "")


@both
@pytest.mark.parametrize(
    "asked",
    [
        {"pageToken": "invalid-token-xyz"},
        {"pageToken": f"1.{NOBODYS}"},
        {"pageToken": f"{'9' * 40}.{NOBODYS}"},
        {"status": "INVALID_STATUS"},
        {"pageSize": -1},
        {"pageSize": 0},
        {"pageSize": 101},
        {"historyLength": -1},
        {"statusTimestampAfter": "-1"},
    ],
)
def test_what_no_list_can_be_asked_for_is_refused(line: Line, binding: str, asked: dict[str, Any]) -> None:
    error = asks(line, binding, "ListTasks", asked).json()["error"]
    assert error["code"] == (-32602 if binding == JSON_RPC else 400) and error["message"]


@both
def test_a_history_is_no_longer_than_was_asked_for(line: Line, binding: str) -> None:
    task_id = make_task(line, binding)["id"]
    for length, most in ((0, 0), (1, 1), (100, 1)):
        told = answers(line, binding, "GetTask", {"id": task_id, "historyLength": length})
        (listed,) = answers(line, binding, "ListTasks", {"historyLength": length})["tasks"]
        sent = answers(line, binding, "SendMessage", {**message(), "configuration": {"historyLength": length}})
        assert [len(each.get("history", [])) for each in (told, listed, sent["task"])] == [most] * 3
        Task.objects.exclude(pk=task_id).delete()
    refused = asks(line, binding, "GetTask", {"id": task_id, "historyLength": -1}).json()["error"]
    assert refused["code"] == (-32602 if binding == JSON_RPC else 400)


@both
def test_a_message_of_the_agent_says_its_role_its_id_and_its_parts(line: Line, binding: str) -> None:
    told = answers(line, binding, "SendMessage", message({"text": "Hello"}))["message"]
    assert told["role"] == "ROLE_AGENT" and told["messageId"] and told["contextId"] and told["parts"]
    assert all(len({"text", "raw", "url", "data"} & set(part)) == 1 for part in told["parts"])
    said = {"kind": "message", "messageId": str(uuid4()), "role": "user", "parts": [{"kind": "text", "text": "Hello"}]}
    older = _older(line, "message/send", {"message": said}).json()["result"]
    assert (older["kind"], older["role"]) == ("message", "agent") and older["messageId"] and older["parts"]


@both
def test_the_context_of_a_message_to_an_open_task_is_that_of_the_task(line: Line, binding: str) -> None:
    row = _make_open(line, context_id="ours")
    told = answers(line, binding, "SendMessage", message({"text": "and now?"}, taskId=str(row.pk)))["message"]
    assert (told["contextId"], told["taskId"], told["role"]) == ("ours", str(row.pk), "ROLE_AGENT")
    wrong = message({"text": "and now?"}, taskId=str(row.pk), contextId="another")
    error = asks(line, binding, "SendMessage", wrong).json()["error"]
    assert error["code"] == (-32602 if binding == JSON_RPC else 400)


@both
def test_a_context_that_cannot_be_kept_is_refused_and_not_replaced(line: Line, binding: str) -> None:
    for context_id in ("x" * 65, "naïve", "two\nlines"):
        refused = asks(line, binding, "SendMessage", message(contextId=context_id))
        assert refused.json()["error"]["code"] == (-32602 if binding == JSON_RPC else 400), context_id
    assert not Task.objects.exists()


@both
def test_an_address_is_named_read_listed_and_forgotten_once_and_again(
    make_line: Callable[[], Line], binding: str
) -> None:
    line, other = make_line(), make_line()
    task_id = make_task(line, binding)["id"]
    calls = {call[0].partition("Task")[0]: call for call in _operations(task_id) if "PushNotification" in call[0]}
    made = _answer(_call(line, binding, calls["Create"]), binding)
    assert (made["id"], made["taskId"], made["url"]) == ("one", task_id, "http://127.0.0.1/told")
    assert _answer(_call(line, binding, calls["Get"]), binding) == made
    assert _answer(_call(line, binding, calls["List"]), binding)["configs"] == [made]
    for call in calls.values():
        is_refused(_call(other, binding, call), binding, "TASK_NOT_FOUND")
    for _ in range(2):
        forgotten = _call(line, binding, calls["Delete"])
        assert forgotten.status_code in (200, 204) and "error" not in forgotten.text
        assert "error" in _call(line, binding, calls["Get"]).json()
        assert not _answer(_call(line, binding, calls["List"]), binding).get("configs")


def test_an_address_stays_while_its_task_changes(line: Line) -> None:
    row = _make_open(line)
    calls = {call[0].partition("Task")[0]: call for call in _operations(str(row.pk))}
    made = _answer(_call(line, REST, calls["Create"]), REST)
    now, waits = clock.now(), TaskState.INPUT_REQUIRED
    assert move_task(task_id=row.pk, leaving=[TaskState.WORKING], to=waits, now=now)
    assert _answer(_call(line, REST, calls["Get"]), REST) == made
    _end(row)
    assert PushConfig.objects.get().notifications.count() == 2


@both
def test_who_follows_an_open_task_hears_each_change_in_order_whoever_else_hangs_up(line: Line, binding: str) -> None:
    row = _make_open(line)
    call = next(each for each in _operations(str(row.pk)) if each[0] == "SubscribeToTask")
    followers = [_Follower(line, binding, call, most=most) for most in (1, 99, 99)]
    for each in followers:
        told = each.hear()
        assert told["task"]["id"] == str(row.pk) and told["task"]["status"]["state"] == "TASK_STATE_WORKING"
    followers[0].thread.join(30)
    now, waits = clock.now(), TaskState.INPUT_REQUIRED
    assert move_task(task_id=row.pk, leaving=[TaskState.WORKING], to=waits, now=now, note="look")
    heard = [[each.hear()] for each in followers[1:]]
    _end(row)
    for each, events in zip(followers[1:], heard, strict=True):
        events.extend(each.rest())
        assert not each.thread.is_alive(), "the stream closes at the end"
    states = [[event["statusUpdate"]["status"]["state"] for event in events] for events in heard]
    assert states[0] == ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_COMPLETED"] and heard[0] == heard[1]


class _Follower:
    """Reads one stream in a thread of its own; hangs up after `most` events."""

    def __init__(self, line: Line, binding: str, call: Call, *, most: int) -> None:
        self._told: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.thread = threading.Thread(target=self._read, args=(line, binding, call, most), daemon=True)
        self.thread.start()

    def _read(self, line: Line, binding: str, call: Call, most: int) -> None:
        headers = {"A2A-Version": "1.0", "Authorization": f"Bearer {line.token}"}
        body = {"jsonrpc": "2.0", "id": 7, "method": call[0], "params": dict(call[1])} if binding == JSON_RPC else {}
        url = f"{line.url}/" if binding == JSON_RPC else f"{line.url}/rest{call[3]}"
        with httpx.stream("POST", url, json=body, headers=headers, timeout=60) as answer:
            for count, event in enumerate(_events(answer), 1):
                self._told.put(event["result"] if binding == JSON_RPC else event)
                if count == most:
                    break
        self._told.put(None)

    def hear(self) -> dict[str, Any]:
        """The next event."""
        told = self._told.get(timeout=30)
        assert told is not None, "the stream was closed"
        return told

    def rest(self) -> list[dict[str, Any]]:
        """What follows, until the server closes the stream."""
        told = []
        while (event := self._told.get(timeout=30)) is not None:
            told.append(event)
        self.thread.join(30)
        return told


def _events(answer: httpx.Response) -> Iterator[dict[str, Any]]:
    for text in answer.iter_lines():
        if text.startswith("data:"):
            yield json.loads(text.removeprefix("data:"))


@both
def test_extensions_are_a_header_and_an_answer_is_json(line: Line, binding: str) -> None:
    extensions = {"A2A-Extensions": "https://example.com/ext/v1,https://example.com/ext/v2"}
    response = _call(line, binding, _operations(NOBODYS)[0], **extensions)
    assert _answer(response, binding)["message"]
    expected = "application/json" if binding == JSON_RPC else "application/a2a+json"
    assert response.headers["Content-Type"].partition(";")[0] == expected


@both
def test_each_error_of_the_protocol_has_its_code_and_its_status(line: Line, binding: str) -> None:
    lost, ended = _operations(NOBODYS), _operations(make_task(line, binding)["id"])
    file = (*lost[0][:1], message({"raw": "AAAA", "mediaType": "application/x-unheard-of"}), *lost[0][2:])
    for call, version, reason in (
        (lost[2], "1.0", "TASK_NOT_FOUND"),
        (ended[4], "1.0", "TASK_NOT_CANCELABLE"),
        (ended[5], "1.0", "UNSUPPORTED_OPERATION"),
        (file, "1.0", "CONTENT_TYPE_NOT_SUPPORTED"),
        (lost[0], "99.0", "VERSION_NOT_SUPPORTED"),
    ):
        is_refused(_call(line, binding, call, **{"A2A-Version": version}), binding, reason)


def test_every_refusal_over_http_has_its_status_in_the_protocols_form(line: Line) -> None:
    send, get = _operations(NOBODYS)[0], _operations(NOBODYS)[2]
    ended = _operations(make_task(line, REST)["id"])
    for call, headers, status in (
        (send, {"Authorization": ""}, 401),
        (send, {"Authorization": "Bearer golem_nobodys"}, 401),
        (send, {"Content-Type": "text/plain"}, 415),
        ((*send[:1], {"message": {"role": "ROLE_USER"}}, *send[2:]), {}, 400),
        ((*send[:1], {"message": 5}, *send[2:]), {}, 400),
        ((*send[:1], message({"raw": "AAAA"}), *send[2:]), {}, 400),
        (get, {"A2A-Version": "9.9"}, 400),
        (get, {}, 404),
        (ended[4], {}, 400),
        (ended[5], {}, 400),
    ):
        response = _call(line, REST, call, **headers)
        assert response.status_code == status, response.text
        error = response.json()["error"]
        assert error["code"] == status and error["message"] and re.fullmatch(r"[A-Z_]+", error["status"])
        (info,) = [each for each in error["details"] if each["@type"] == "type.googleapis.com/google.rpc.ErrorInfo"]
        assert info["domain"] == "a2a-protocol.org" and re.fullmatch(r"[A-Z0-9_]+", info["reason"])


def test_each_interface_of_the_card_answers_at_its_address(line: Line) -> None:
    card = httpx.get(f"{line.url}/.well-known/agent-card.json", headers={"A2A-Version": "1.0"}).json()
    for interface in card["supportedInterfaces"]:
        binding, version = interface["protocolBinding"], interface["protocolVersion"]
        headers = {"A2A-Version": version, "Authorization": f"Bearer {line.token}"}
        if binding == JSON_RPC:
            method = {"1.0": "GetTask", "0.3": "tasks/get"}[version]
            body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {"id": NOBODYS}}
            assert httpx.post(interface["url"], json=body, headers=headers).json()["error"]["code"] == -32001
        else:
            place = {"1.0": "", "0.3": "/v1"}[version]
            assert httpx.get(f"{interface['url']}{place}/tasks/{NOBODYS}", headers=headers).status_code == 404


def test_the_signature_is_over_the_canonical_card_without_its_signatures(line: Line) -> None:
    card = httpx.get(f"{line.url}/.well-known/agent-card.json", headers={"A2A-Version": "1.0"}).json()
    (signature,) = card.pop("signatures")
    protected = signature["protected"]
    header = json.loads(base64.urlsafe_b64decode(protected + "=" * (-len(protected) % 4)))
    assert header["alg"] == "EdDSA" and header["kid"]
    (key,) = [each for each in httpx.get(header["jku"]).json()["keys"] if each["kid"] == header["kid"]]
    # RFC 8785 of a document whose names are ASCII and that has no fractions.
    canonical = json.dumps(_without_empty(card), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    payload = base64.urlsafe_b64encode(canonical.encode()).rstrip(b"=").decode()
    token = f"{protected}.{payload}.{signature['signature']}"
    assert jwt.api_jws.decode(token, jwt.PyJWK(key), algorithms=["EdDSA"]) == canonical.encode()


def _without_empty(value: Any) -> Any:
    """What has its default is left out (section 8.4.1), as the official packages read it: empty members too."""
    if isinstance(value, dict):
        kept = {name: _without_empty(member) for name, member in value.items()}
        return {name: member for name, member in kept.items() if member not in ("", [], {})}
    if isinstance(value, list):
        return [kept for kept in (_without_empty(member) for member in value) if kept not in ("", [], {})]
    return value


@pytest.mark.parametrize("version", ["1.0", "0.3"])
def test_who_is_refused_by_json_rpc_is_told_code_message_and_their_own_id(line: Line, version: str) -> None:
    send, get = {"1.0": ("SendMessage", "GetTask"), "0.3": ("message/send", "tasks/get")}[version]
    whole = {"jsonrpc": "2.0", "id": "a", "method": send, "params": {}}
    for body, code, request_id in (
        (b'{"jsonrpc": "2.0", "method": "message/send", "params": {"foo": "bar"}', -32700, None),
        ({**whole, "jsonrpc": "aaa"}, -32600, "a"),
        ({**whole, "jsonrpc": "1.0"}, -32600, "a"),
        ({"jsonrpc": "2.0", "id": "a", "params": {}}, -32600, "a"),
        ({"jsonrpc": "2.0", "params": {}}, -32600, None),
        ({**whole, "id": {"bad": "type"}}, -32600, None),
        ({**whole, "method": "nonexistent/method"}, -32601, "a"),
        ({**whole, "method": "SendMessageXXX"}, -32601, "a"),
        (whole, -32602, "a"),
        ({**whole, "params": {"": "not_a_dict"}}, -32602, "a"),
        ({**whole, "params": {"message": {"parts": "invalid"}}}, -32602, "a"),
        ({**whole, "params": {"message": {"kind": "message"}}}, -32602, "a"),
        ({**whole, "method": get}, -32602, "a"),
        ({**whole, "method": get, "params": {"id": {"invalid": "object"}}}, -32602, "a"),
        ({**whole, "method": get, "params": {"id": "definitely-nobodys"}}, -32001, "a"),
    ):
        response = line.post(body, version=version)
        told = response.json()
        assert response.status_code == 200 and (told["jsonrpc"], told["id"]) == ("2.0", request_id), (body, told)
        assert told["error"]["code"] == code and told["error"]["message"], (body, told)
        assert "result" not in told
    assert not Task.objects.exists()


def test_the_same_request_id_twice_is_two_requests(line: Line) -> None:
    data = {"skill": "query_state", "params": {"query": "golem"}}
    made = []
    for _ in range(2):
        said = {"kind": "message", "messageId": str(uuid4()), "role": "user", "parts": [{"kind": "data", "data": data}]}
        answer = _older(line, "message/send", {"message": said}).json()
        assert answer["id"] == 7
        made.append(answer["result"]["id"])
    assert len(set(made)) == 2


@pytest.mark.parametrize("file", [{"bytes": "dGVzdA=="}, {"uri": "https://example.com/x"}])
def test_a_file_is_no_content_that_0_3_brings_here(line: Line, file: dict[str, str]) -> None:
    part = {"kind": "file", "file": {"name": "x", "mimeType": "application/x-unheard-of", **file}}
    parts = [{"kind": "text", "text": "look"}, part]
    said = {"kind": "message", "messageId": str(uuid4()), "role": "user", "parts": parts}
    assert _older(line, "message/send", {"message": said}).json()["error"]["code"] == -32005
    assert not Task.objects.exists()


def test_what_0_3_is_told_of_the_golem_is_said_in_full(line: Line) -> None:
    card = httpx.get(f"{line.url}/.well-known/agent-card.json", headers={"A2A-Version": "0.3"}).json()
    assert card["capabilities"] and isinstance(card["capabilities"], dict)
    assert card["skills"]
    assert all(all(skill[name] for name in ("id", "name", "description", "tags")) for skill in card["skills"])
    for modes in (card["defaultInputModes"], card["defaultOutputModes"]):
        assert modes and all(isinstance(mode, str) and mode.strip() for mode in modes)
    assert all(isinstance(card[name], str) and card[name].strip() for name in ("name", "description", "version"))


def test_the_schemes_that_0_3_is_told_are_whole_and_those_required(line: Line) -> None:
    card = httpx.get(f"{line.url}/.well-known/agent-card.json", headers={"A2A-Version": "0.3"}).json()
    assert {(each["type"], each["scheme"]) for each in card["securitySchemes"].values()} == {("http", "bearer")}
    assert {name for each in card["security"] for name in each} == set(card["securitySchemes"])
    newer = httpx.get(f"{line.url}/.well-known/agent-card.json", headers={"A2A-Version": "1.0"}).json()
    assert set(newer["securitySchemes"]) == set(card["securitySchemes"])
    assert all(each["httpAuthSecurityScheme"]["scheme"] == "bearer" for each in newer["securitySchemes"].values())


def test_who_holds_a_token_is_told_the_extended_card_by_0_3_too(line: Line) -> None:
    public = httpx.get(f"{line.url}/.well-known/agent-card.json", headers={"A2A-Version": "0.3"}).json()
    assert public["supportsAuthenticatedExtendedCard"] is True
    headers = {"A2A-Version": "0.3", "Authorization": f"Bearer {line.token}"}
    over_http = httpx.get(f"{line.url}/rest/v1/card", headers=headers, timeout=60)
    over_rpc = _older(line, "agent/getAuthenticatedExtendedCard", {})
    for card in (over_http.json(), over_rpc.json()["result"]):
        assert {"name", "description", "url", "version", "capabilities", "skills"} <= set(card)
        assert card["defaultInputModes"] and card["defaultOutputModes"]
        assert len(card["skills"]) > len(public["skills"])


def test_the_methods_of_0_3_are_at_their_places_over_http_too(line: Line) -> None:
    data = {"skill": "query_state", "params": {"query": "golem"}}
    said = {"messageId": str(uuid4()), "role": "ROLE_USER", "content": [{"data": {"data": data}}]}
    headers = {"A2A-Version": "0.3", "Authorization": f"Bearer {line.token}"}
    home = f"{line.url}/rest/v1"
    sent = httpx.post(f"{home}/message:send", json={"message": said}, headers=headers, timeout=60)
    task = sent.json()["task"]
    again = httpx.get(f"{home}/tasks/{task['id']}", params={"historyLength": 1}, headers=headers, timeout=60).json()
    assert again["id"] == task["id"] and len(again["history"]) == 1
    told = _older(line, "tasks/get", {"id": task["id"], "historyLength": 1}).json()["result"]
    assert (told["id"], len(told["history"])) == (task["id"], 1)
    assert (told["status"]["state"], again["status"]["state"]) == ("completed", "TASK_STATE_COMPLETED")
    for task_id, code, status in ((task["id"], -32002, 400), (NOBODYS, -32001, 404), ("nonexistent", -32001, 404)):
        assert _older(line, "tasks/cancel", {"id": task_id}).json()["error"]["code"] == code
        assert httpx.post(f"{home}/tasks/{task_id}:cancel", headers=headers, timeout=60).status_code == status
    assert httpx.get(f"{home}/tasks/{NOBODYS}", headers=headers, timeout=60).status_code == 404


def _older(line: Line, method: str, params: Mapping[str, Any]) -> httpx.Response:
    return line.post({"jsonrpc": "2.0", "id": 7, "method": method, "params": dict(params)}, version="0.3")
