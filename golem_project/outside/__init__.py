"""Services outside that owners switch on for their golems: the keys, the door every question goes through, the page."""
