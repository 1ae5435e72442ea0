"""What is done to who a golem is: keys, roles, invitations, vitality; one verb per file."""
