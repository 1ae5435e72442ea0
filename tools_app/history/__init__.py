"""The index of logs: what golems watch or hold is read from the chain once, checked, kept, and folded into bars."""
