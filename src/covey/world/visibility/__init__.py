"""The explorable and coverable parts of a world, and those already explored and covered."""
