"""What outcomes look like: as text for people, and as JSON for programs. Nothing here decides anything."""
