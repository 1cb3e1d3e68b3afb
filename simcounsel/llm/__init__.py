"""Questions to language models: what a Request is, who answers it, and what it costs."""
