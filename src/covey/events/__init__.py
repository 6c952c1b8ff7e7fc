"""Events and faults that change a world and its robots during a run: their declaration, schedule and effects."""
