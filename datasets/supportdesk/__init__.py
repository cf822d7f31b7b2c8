"""Seeded generator of bilingual customer-service logs with labelled questions."""
