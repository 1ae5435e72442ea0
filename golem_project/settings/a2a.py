"""Sets how much other agents may ask over A2A, and how long their proofs are good."""

from __future__ import annotations

from golem_project.settings.environment import read_integer, read_text

# Which golem's card stands at the root of the host; empty: none, each golem has its own under /a2a/<id>/.
GOLEM_A2A_ROOT_GOLEM = read_text("GOLEM_A2A_ROOT_GOLEM", "")
# https and the host by which this server is reached from outside, such as https://golem.example; what golems register
# of their doors is filled in from it. Empty: nothing is.
GOLEM_PUBLIC_URL = read_text("GOLEM_PUBLIC_URL", "").rstrip("/")
GOLEM_A2A_THREADS = read_integer("GOLEM_A2A_THREADS", 32)  # tasks that one server process carries out at once
GOLEM_A2A_MOST_OPEN_TASKS = 50  # of one key
GOLEM_A2A_LEASE_SECONDS = 120  # longer than any preview or commit is waited for
GOLEM_A2A_MOST_BODY_BYTES = 65_536
GOLEM_A2A_CHALLENGE_SECONDS = 300
GOLEM_A2A_VISIT_SECONDS = 3_600
GOLEM_A2A_MOST_CHALLENGES_PER_MINUTE = 30  # of one golem
GOLEM_A2A_MOST_VISITS_PER_MINUTE = 30  # questions of one wallet at one golem
GOLEM_A2A_MOST_STRANGERS_PER_MINUTE = 120  # questions of all wallets at one golem
GOLEM_A2A_MOST_PUSH_CONFIGS = 5  # of one task
GOLEM_A2A_PUSH_TIMEOUT_SECONDS = 10.0
GOLEM_A2A_TASKS_KEPT_DAYS = read_integer("GOLEM_A2A_TASKS_KEPT_DAYS", 90)
GOLEM_SALE_SECONDS = 30.0  # so long a payment is waited for on its chain
GOLEM_MOST_SALES_AT_ONCE = 8  # of one golem
GOLEM_A2A_PAY_SECONDS = 3_600  # a task waits so long to be paid for
