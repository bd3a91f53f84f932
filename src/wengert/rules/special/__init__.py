"""Rules of `scipy.special`, in force once a program has imported it."""
