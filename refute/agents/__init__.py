"""Where coding agents meet the gate: hooks that block an agent until its change is accepted."""
