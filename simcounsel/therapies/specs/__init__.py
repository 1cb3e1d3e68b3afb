"""What files say of therapies, courses, manuals and exercises."""
