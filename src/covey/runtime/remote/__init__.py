"""Every controller, with its mapping and planning, in an operating-system process of its own."""
