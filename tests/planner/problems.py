"""Random problems: batches and folds as dispatch makes them."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.planner.library import ITEM, NONE, REQUEST, Batch, Settings

KEYS = st.one_of(st.sampled_from((0, 1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129)), st.integers(0, 700))
GRANULARITIES = (1, 2, 8, 16, 32, 64)
PAGES = (1, 2, 16, 64)


@st.composite
def settings(draw: st.DrawFn) -> Settings:
    """A schedule request of any fold."""
    q_len = draw(st.integers(1, 16))
    causal = draw(st.booleans())
    fold = draw(st.sampled_from(("native", "token_fold", "one_token", "head_fold", "sparse")))
    mask = draw(st.sampled_from((ITEM, REQUEST, NONE)))
    single = fold in {"one_token", "head_fold", "sparse"} or (mask == NONE and causal)
    tokens = q_len if fold == "native" else draw(st.integers(1, q_len))
    groups = draw(st.integers(1, 4)) if fold in {"head_fold", "sparse"} else 1
    in_tokens = draw(st.booleans())
    page_1 = mask == NONE and causal and q_len > 1 and not in_tokens
    width = draw(st.sampled_from((1, 2)))
    return Settings(
        q_len=q_len,
        heads=groups * width,
        kernel_heads=width,
        kernel_tokens=tokens,
        min_tokens=1 if single else draw(st.integers(1, tokens)),
        page_size=1 if page_1 else draw(st.sampled_from(PAGES)),
        kv_granularity=draw(st.sampled_from(GRANULARITIES)),
        workgroups=draw(st.integers(1, 40)),
        max_split_per_batch=draw(st.sampled_from((-1, -1, 1, 2, 5))),
        top_k=draw(st.integers(1, 300)) if fold == "sparse" else -1,
        item_cost=draw(st.sampled_from((0, 0, 1, 3))),
        causal=causal,
        mask=mask,
        one_token_items=single,
        virtual_batches=groups > 1 and fold == "head_fold",
        kv_in_tokens=in_tokens,
        partial_always=draw(st.booleans()),
    )


@st.composite
def batches(draw: st.DrawFn, wanted: Settings) -> Batch:
    """A batch for a request: uniform or ragged, some requests without query tokens or without keys."""
    count = draw(st.integers(0, 6))
    uniform = draw(st.booleans())
    q_lens = [wanted.q_len if uniform else draw(st.integers(0, wanted.q_len)) for _ in range(count)]
    kv_lens = [draw(KEYS) for _ in range(count)]
    return Batch(tuple(q_lens), tuple(kv_lens), wanted.page_size, draw(st.sampled_from((0, 0, 3))))


@st.composite
def problems(draw: st.DrawFn) -> tuple[Settings, Batch]:
    wanted = draw(settings())
    return wanted, draw(batches(wanted))
