"""Physics on a landscape, in three dimensions, with MuJoCo (extra ``[terrain]``)."""
