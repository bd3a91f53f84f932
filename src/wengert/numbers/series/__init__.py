"""Numbers that carry all their derivatives: power series, the recurrences that they obey, and towers."""
