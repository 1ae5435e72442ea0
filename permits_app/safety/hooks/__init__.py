"""One hook per file; `permits_app/safety/hook_chain.py` fixes their order."""
