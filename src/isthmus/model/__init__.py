"""The fitted model: coordinates, classes, objective and solvers."""
