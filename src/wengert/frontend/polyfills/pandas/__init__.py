"""What stands for columns of pandas."""
