"""The simplest controllers: standing still, wandering, following a wall."""
