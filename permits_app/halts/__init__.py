"""What a halt and a golem's end are."""
