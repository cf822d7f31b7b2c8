"""Search in the log as it was written: plan, full text, rerank, answer with citations."""
