"""Loop form → loop form: memory, parallel loops, records, calls; each pass by itself."""
