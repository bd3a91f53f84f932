"""What nobody needs is left out: dead code, shapes, dtypes that only the run would know."""
