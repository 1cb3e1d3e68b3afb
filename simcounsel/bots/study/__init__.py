"""A safety study: clients live with a bot for days; what it did, and what that did to them."""
