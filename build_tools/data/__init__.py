"""The data under ``hsa/``, read strictly."""
