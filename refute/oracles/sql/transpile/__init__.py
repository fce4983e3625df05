"""SQLite's SQL written for other engines, so that it means there what it means in SQLite."""
