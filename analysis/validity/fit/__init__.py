"""How clients open up, fitted to sessions: real beside simulated."""
