"""Tools that live with the data they touch: `wallet_*` and `safety_*`."""
