"""Decides how the tiny model's server writes a conversation as one text: roles, tools, tool calls, tool results."""

# mlx-lm picks its JSON tool parser for a template that holds both `<tool_call>` and `tool_call.name`.
# A replayed assistant message must give the same bytes as the model wrote, so nothing is put around its content.
# With tools the answer starts after a line end, without tools after <|words|>: the model knows from that last token
# whether it may call one. <think> is no token of the vocabulary, so mlx-lm does not wait for reasoning.
CHAT_TEMPLATE = r"""
{%- macro called(tool_call) -%}
    {%- set given = tool_call.arguments or {} -%}
    {%- set given = given if given is string else given | tojson -%}
    <tool_call>{"name": "{{ tool_call.name }}", "arguments": {{ given }}}</tool_call>
{%- endmacro -%}
{%- set answer_start = '<|im_start|>assistant\n' ~ ('' if tools else '<|words|>') -%}
{%- set rest = messages -%}
{%- if tools -%}
    {{ '<|im_start|>system\n' }}
    {%- if messages and messages[0].role == 'system' -%}
        {%- set rest = messages[1:] -%}
        {{ messages[0].content ~ '\n\n' }}
    {%- endif -%}
    {{ 'Functions that you can call:\n' }}
    {%- for tool in tools -%}
        {{ tool | tojson ~ '\n' }}
    {%- endfor -%}
    {{ '<|im_end|>\n' }}
{%- endif -%}
{%- for message in rest -%}
    {%- if message.role == 'assistant' -%}
        {%- set thought = message.reasoning or message.reasoning_content -%}
        {{ answer_start ~ ('<think>' ~ thought ~ '</think>\n' if thought else '') ~ (message.content or '') }}
        {%- for call in message.tool_calls or [] -%}
            {{ called(call.function or call) }}
        {%- endfor -%}
    {%- else -%}
        {{ '<|im_start|>' ~ message.role ~ '\n' ~ (message.content or '') }}
    {%- endif -%}
    {{ '<|im_end|>\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{ answer_start }}
{%- endif -%}
"""
