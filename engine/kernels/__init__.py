"""The numba kernels. They see addresses and integers: no files, no model families, no tokens'
meaning."""
