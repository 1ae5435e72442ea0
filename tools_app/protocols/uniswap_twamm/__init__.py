"""Orders that are carried out over time, second by second; on the local chain a contract of ours stands for the hook."""
