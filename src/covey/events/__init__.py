"""What happens to a world and its robots while they run: as declared, when due, and applied."""
