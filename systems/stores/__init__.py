"""Vector and full-text indexes; the only place where their engines are named."""
