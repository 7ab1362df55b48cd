"""Users of other kinds, and what goes with them."""
