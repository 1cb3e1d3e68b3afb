"""What clinicians say of frozen talks, and how far they and a judge agree."""
