"""An owner talks to a golem: previews and reads alone, on a page of the admin and in a terminal."""
