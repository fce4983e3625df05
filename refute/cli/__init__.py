"""The command line. Each command is one module; heavy imports wait until a command runs."""
