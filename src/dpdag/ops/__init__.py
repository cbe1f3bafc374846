"""Pure batched tensor functions; nothing here holds state."""
