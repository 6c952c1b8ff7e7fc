"""Where robots can stand."""
