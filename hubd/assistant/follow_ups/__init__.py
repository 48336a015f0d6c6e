"""What goes on with what was done, told or asked before."""
