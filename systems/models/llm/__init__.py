"""Language models behind any OpenAI-compatible endpoint: asked, recorded, replayed, counted."""
