"""Thinking with a language model: which one, what it costs, how long and how much it may think. Facts 10.

Without a model name nothing is asked of any model: golems are managed by rules, and delegates that plan are absent.
"""

from __future__ import annotations

from django.core.exceptions import ImproperlyConfigured

from golem_project.settings.environment import VAR_DIR, read_flag, read_integer, read_optional_secret, read_text

# "openai" speaks to every OpenAI-compatible endpoint, local ones too; "anthropic" to Anthropic's.
GOLEM_MODEL_PROVIDER = read_text("GOLEM_MODEL_PROVIDER", "openai")
GOLEM_MODEL_BASE_URL = read_text("GOLEM_MODEL_BASE_URL")  # empty: the provider's own address
GOLEM_MODEL_API_KEY = read_optional_secret("GOLEM_MODEL_API_KEY")
# A private or loopback address, and plain http to it, only where the operator says so: it is the way into a network.
GOLEM_MODEL_ALLOW_LOCAL = read_flag("GOLEM_MODEL_ALLOW_LOCAL", False)

GOLEM_MODEL_T1 = read_text("GOLEM_MODEL_T1")  # name at the provider; T1 answers small questions
GOLEM_MODEL_T2 = read_text("GOLEM_MODEL_T2") or GOLEM_MODEL_T1  # T2 plans
# Micro-USD per million tokens of the model, in and out; 0 is free, and only a local endpoint may be.
GOLEM_MODEL_T1_INPUT_MICRO_USD = read_integer("GOLEM_MODEL_T1_INPUT_MICRO_USD", 0)
GOLEM_MODEL_T1_OUTPUT_MICRO_USD = read_integer("GOLEM_MODEL_T1_OUTPUT_MICRO_USD", 0)
GOLEM_MODEL_T2_INPUT_MICRO_USD = read_integer("GOLEM_MODEL_T2_INPUT_MICRO_USD", GOLEM_MODEL_T1_INPUT_MICRO_USD)
GOLEM_MODEL_T2_OUTPUT_MICRO_USD = read_integer("GOLEM_MODEL_T2_OUTPUT_MICRO_USD", GOLEM_MODEL_T1_OUTPUT_MICRO_USD)
GOLEM_MODEL_DAILY_CAP_MICRO_USD = read_integer("GOLEM_MODEL_DAILY_CAP_MICRO_USD", 10_000_000)  # $10 a golem and day

GOLEM_MODEL_REQUEST_SECONDS = 30  # the most one answer may take, and never more than the tick has left
GOLEM_MODEL_RESPONSE_BYTES = 2_000_000  # an endpoint that sends more is cut off
GOLEM_MODEL_OUTPUT_LLM_TOKENS = 2_048  # the most one answer may be long
GOLEM_THINKING_ROUNDS = 8  # answers of the model in one deliberation
GOLEM_THINKING_CALLS = 24  # tool calls in one deliberation
GOLEM_THINKING_IDENTICAL_CALLS = 5  # the same call this often is a loop and ends the deliberation
GOLEM_THINKING_ARGUMENT_BYTES = 16_384  # of one call
GOLEM_THINKING_RESULT_CHARACTERS = 12_000  # of one answer of a tool; the rest comes with its cursor
GOLEM_THINKING_SUMMARY_CHARACTERS = 4_000  # of the model's own last word, kept in the record
GOLEM_THINKING_STANDING_CHARACTERS = 12_000  # of STRATEGY and PLAYBOOK in each request; what is left out is named
GOLEM_THINKING_TOOLS = 12  # adapters a model is shown in one tick

# A tool an owner wrote as TOML asks public https addresses; 1 lets it reach this machine and its private network.
GOLEM_WRITTEN_TOOLS_ALLOW_PRIVATE_ADDRESSES = read_flag("GOLEM_WRITTEN_TOOLS_ALLOW_PRIVATE_ADDRESSES", False)

# The largest module an owner may bring, 1 to 32 MiB. One made with Python has 18, and keeps 40 MB of each process that
# runs it.
GOLEM_MODULE_MEBIBYTES = read_integer("GOLEM_MODULE_MEBIBYTES", 8)
if not 1 <= GOLEM_MODULE_MEBIBYTES <= 32:
    raise ImproperlyConfigured("GOLEM_MODULE_MEBIBYTES is 1 to 32")
GOLEM_MODULE_CODE_DIR = VAR_DIR / "modules"  # what their compiler made of the large ones

# A conversation of an owner with a golem, one message and its answer. Shorter than a task's `visibility_timeout`.
GOLEM_CHAT_SECONDS = 100
GOLEM_CHAT_ROUNDS = 12
GOLEM_CHAT_LLM_TOKENS = 200_000  # read and written
GOLEM_CHAT_MOST_MICRO_USD = 1_000_000  # $1, within the golem's daily cap
GOLEM_CHAT_BESIDE = 4  # reads of one answer that run at once
GOLEM_CHAT_RETRIES = 2  # of a request that found the endpoint away
GOLEM_CHAT_REMEMBERED = 10  # earlier messages that a model is told again
