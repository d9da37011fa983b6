"""What each kind of analysis tells beside its criteria, as text."""
