"""Running a plan without sending it. What runs here is byte for byte what commit signs."""
