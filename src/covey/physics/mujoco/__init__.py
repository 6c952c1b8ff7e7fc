"""Physics on a landscape, in three dimensions: MuJoCo, of the extra ``[terrain]``."""
