"""Where code runs that is not ours: modules of owners, in wasmtime, with nothing but what is handed to them."""
