"""Recording what one robot is shown and answers, and stepping its software against that, alone."""
