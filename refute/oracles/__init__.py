"""The truth to compare with: real systems and trusted models. No engine is known here."""
