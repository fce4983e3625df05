"""The only place that formats: text, JSON, SARIF and JUnit from the same run record."""
