"""What is refused or deferred before and while a program is differentiated."""
