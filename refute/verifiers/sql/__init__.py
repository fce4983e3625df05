"""Engines that judge SQL engines: conformance with sqllogictest files, difference from SQLite."""
