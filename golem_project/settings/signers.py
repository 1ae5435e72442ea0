"""Sets who signs for golems: session keys of cages, this server's accounts at Privy, AWS, Turnkey and ZeroDev.

Secrets come from files first.
"""

from __future__ import annotations

from golem_project.settings.environment import read_flag, read_optional_secret, read_text

GOLEM_SESSION_SECONDS = 7 * 86_400  # a session key is replaced after so long
GOLEM_SESSION_OPERATIONS = 10_000  # or after so many operations
GOLEM_SESSION_FLOOR_BPS = 1_000  # or once a tenth of its operations or of its budget is left
GOLEM_SESSION_LEAD_SECONDS = 86_400  # so long before its end the owners are asked for the next one

GOLEM_PRIVY_URL = read_text("GOLEM_PRIVY_URL", "https://api.privy.io")
GOLEM_PRIVY_APP_ID = read_text("GOLEM_PRIVY_APP_ID")
GOLEM_PRIVY_APP_SECRET = read_optional_secret("GOLEM_PRIVY_APP_SECRET")
GOLEM_PRIVY_AUTHORIZATION_KEY = read_optional_secret("GOLEM_PRIVY_AUTHORIZATION_KEY")
GOLEM_PRIVY_ALLOWS_PRIVATE_ADDRESSES = read_flag("GOLEM_PRIVY_ALLOWS_PRIVATE_ADDRESSES", False)  # a stand-in only
GOLEM_PRIVY_TIMEOUT_SECONDS = 10.0  # for one request as a whole

GOLEM_ZERODEV_URL = read_text("GOLEM_ZERODEV_URL", "https://rpc.zerodev.app/api/v3")
GOLEM_ZERODEV_PROJECT_ID = read_optional_secret("GOLEM_ZERODEV_PROJECT_ID")  # whoever has it uses the project
GOLEM_ZERODEV_PAYMASTER = read_text("GOLEM_ZERODEV_PAYMASTER")  # pays for operations, and no other; empty: the account
GOLEM_ZERODEV_ALLOWS_PRIVATE_ADDRESSES = read_flag("GOLEM_ZERODEV_ALLOWS_PRIVATE_ADDRESSES", False)  # a stand-in only
GOLEM_ZERODEV_TIMEOUT_SECONDS = 10.0  # for one request as a whole
GOLEM_OPERATION_GAS_AROUND = 400_000  # gas of a user operation besides its call: its check, its share of a bundle

GOLEM_KMS_REGION = read_text("GOLEM_KMS_REGION")
GOLEM_KMS_ACCESS_KEY_ID = read_text("GOLEM_KMS_ACCESS_KEY_ID")
GOLEM_KMS_SECRET_ACCESS_KEY = read_optional_secret("GOLEM_KMS_SECRET_ACCESS_KEY")
GOLEM_KMS_SESSION_TOKEN = read_optional_secret("GOLEM_KMS_SESSION_TOKEN")
GOLEM_KMS_URL = read_text("GOLEM_KMS_URL")  # empty: AWS's own for the region
GOLEM_KMS_ALLOWS_PRIVATE_ADDRESSES = read_flag("GOLEM_KMS_ALLOWS_PRIVATE_ADDRESSES", False)  # an endpoint of one's own
GOLEM_KMS_TIMEOUT_SECONDS = 10.0  # for one request as a whole

GOLEM_TURNKEY_URL = read_text("GOLEM_TURNKEY_URL", "https://api.turnkey.com")
GOLEM_TURNKEY_ORGANIZATION_ID = read_text("GOLEM_TURNKEY_ORGANIZATION_ID")
GOLEM_TURNKEY_API_KEY = read_optional_secret("GOLEM_TURNKEY_API_KEY")  # the private half, hexadecimal
GOLEM_TURNKEY_USER_ID = read_text("GOLEM_TURNKEY_USER_ID")  # whom policies of new wallets let sign; empty: no policy
GOLEM_TURNKEY_ALLOWS_PRIVATE_ADDRESSES = read_flag("GOLEM_TURNKEY_ALLOWS_PRIVATE_ADDRESSES", False)  # a stand-in only
GOLEM_TURNKEY_TIMEOUT_SECONDS = 10.0  # for one request as a whole
