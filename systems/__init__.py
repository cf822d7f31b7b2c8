"""Memory architectures: the contract, the registry and the implementations."""
