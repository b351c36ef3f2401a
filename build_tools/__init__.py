"""Build pipeline of aiter_mla_aot; never shipped."""
