"""People in the browser: accepting an invitation, and where one is signed in."""
