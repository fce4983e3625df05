"""Where cases come from, deterministic in one seed. No engine is known here."""
