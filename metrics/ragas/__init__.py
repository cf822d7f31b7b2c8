"""ragas' metrics over the answers of a run, asked through memtrial's own client; an extra, imported only where used."""
