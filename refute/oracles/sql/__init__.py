"""SQL engines and their answers: the embedded SQLite, and any DB-API 2.0 driver in a worker."""
