"""Reading chains. Nothing in this package can sign or send; spending lives in `permits_app/execution/`."""
