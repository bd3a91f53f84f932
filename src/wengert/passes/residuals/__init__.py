"""What one sweep hands to a later one: which values, and how branches and loops hand them over."""
