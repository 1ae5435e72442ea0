"""Orders that are carried out over time, second by second; locally a contract of ours stands for the hook."""
