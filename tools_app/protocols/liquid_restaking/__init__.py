"""Liquid restaking: ether.fi, Kelp and Renzo, three issuers behind one set of tools."""
