"""What the site is made with."""
