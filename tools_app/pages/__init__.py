"""What pages and forms of every app share: HTML of figures and states, questions before an act, fields for numbers."""
