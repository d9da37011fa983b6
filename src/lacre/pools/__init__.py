"""Sealed pools: what encrypts them and commits to them, where they are kept, and which cases they share."""
