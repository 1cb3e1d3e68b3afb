"""Help lines by locale, what a human who takes part is told, and danger that was left open."""
