"""SQL cases: small databases and queries as syntax trees, drawn from a seed and made smaller."""
