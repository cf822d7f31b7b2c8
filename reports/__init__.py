"""From records on disk to a page that a design review decides from."""
