"""How commands move bodies."""
