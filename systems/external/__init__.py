"""Systems that live outside the tree: user classes and HTTP services."""
