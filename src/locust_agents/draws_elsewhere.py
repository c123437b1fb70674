"""Sizes and gaps from other sources than the Claude Code traces: a table each, with what of it is an assumption."""

from locust_agents.draws import Table

# Azure's public inference trace of a code service (2023, 8,819 requests): short answers, as of autocompletion.
COMPLETION = Table("answer that fills a hole", "tokens", (6, 7, 9, 13, 24, 55, 90, 251.46))
# The same trace: between two requests of the whole service. Taken for one who types: an assumption.
KEY_GAP = Table("gap between two keys", "s", (0, 0, 0, 0.06, 0.1, 0.27, 0.4, 2.21))
# TraceLab (arXiv 2606.30560): p50, p90 and p99 of 432,510 tool calls. The other percentiles are assumptions: most
# tools are done in 0.1 to 0.5 s, a third takes 1 to 14 s.
TOOL_LATENCY = Table("run of a tool without its client", "s", (0.1, 0.12, 0.2, 0.3, 3, 13.6, 40, 216))
# TraceLab: what a step reads that finds less than 1,000 tokens cached, p50 and p90 of Claude's (2.1 % of its steps).
# The other percentiles are assumptions: those of the lognormal through these two.
COLD_HISTORY = Table(
    "history that no cache holds", "tokens", (11600, 17700, 35700, 78000, 170300, 344000, 524000, 1153000)
)
