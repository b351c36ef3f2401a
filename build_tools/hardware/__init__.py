"""Records that ``aiter-mla-aot smoke --record`` made on real devices: read strictly, and imported into the data under ``hsa/``."""
