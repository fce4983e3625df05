"""Ready specs: executable descriptions of systems that many programs are meant to be."""
