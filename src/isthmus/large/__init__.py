"""Comparisons of more rows than memory, or patience, has room for.

What is chosen is chosen on a sample of the rows; what is convex or closed-form is fitted to all
of them, in passes; and every row's log-ratio counts in the answer.
"""
