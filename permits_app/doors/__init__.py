"""What pages and agents call: each verb here hands work to a worker, and waits where somebody waits."""
