"""Read worlds from files and write them."""
