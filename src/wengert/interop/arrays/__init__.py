"""NumPy programs on the arrays of other libraries: torch, JAX, CuPy, Dask, anything of the array API standard.

A derivative that is called with such arrays is derived as for NumPy's, and its code runs in a namespace
(`namespace.Namespace`, in the place of `np`) that computes with the other library, on arrays that have NumPy's
interface (`duck`). What the standard names differently, or lacks, is written over it (`elementwise`, `creation`,
`shapes`, `reductions`, `selection`, `linear_algebra`); what a library does in a way of its own is in `library`.
May import `api` and what lies below.
"""
