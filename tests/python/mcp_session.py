"""Talks to `toolbay serve --stdio` as a client of the official SDK does, and prints what it saw as one JSON object.

Usage: mcp_session.py MODE TOOLBAY HOME, where MODE is a mode of the SDK's client: auto or legacy.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


def seen(result):
    return {
        "is_error": bool(result.is_error),
        "types": [block.type for block in result.content],
        "text": "\n\n".join(block.text for block in result.content if block.type == "text"),
        "structured": result.structured_content,
    }


async def main(mode, toolbay, home):
    server = StdioServerParameters(command=toolbay, args=["--home", home, "serve", "--stdio"])
    progress = []

    async def on_progress(done, total, message):
        progress.append([done, total, message])

    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        calls = {}
        for name, tool, arguments in [
            ("greeted", "greet", {"language": "de"}),
            ("refused", "greet", {"language": "fr"}),
            ("printed", "misbehave", {"mode": "print"}),
            ("panicked", "misbehave", {"mode": "panic"}),
            ("failed", "misbehave", {"mode": "fail"}),
            ("forms", "forms", {}),
            ("counted", "counted", {"text": "ä€"}),
            ("too_much", "counted", {"text": "too much"}),
            ("well", "misbehave", {"mode": "well"}),
        ]:
            calls[name] = seen(await client.call_tool(tool, arguments))
        calls["whoami"] = seen(
            await client.call_tool("whoami", {}, progress_callback=on_progress)
        )
        try:
            await client.call_tool("gret", {})
            unknown = None
        except Exception as error:  # whatever class the SDK gives a protocol error
            unknown = str(error)
        print(
            json.dumps(
                {
                    "version": client.protocol_version,
                    "tools": {
                        tool.name: {
                            "description": tool.description,
                            "schema": tool.input_schema,
                            "read_only": tool.annotations.read_only_hint,
                        }
                        for tool in tools
                    },
                    "calls": calls,
                    "unknown": unknown,
                    "progress": progress,
                }
            )
        )


asyncio.run(main(*sys.argv[1:]))
