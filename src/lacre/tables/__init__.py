"""Tables: data files read as text and typed by what the protocol declares, never by what they look like."""
