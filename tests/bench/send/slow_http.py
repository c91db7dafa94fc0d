#!/usr/bin/python3
"""An HTTP server that takes everything, and takes its time: slow_http.py PORT SECONDS."""
import asyncio
import sys

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"id\":\"re_1\"}"


async def talk(reader, writer, wait):
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = next((int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
            await reader.readexactly(length)
            await asyncio.sleep(wait)
            writer.write(ANSWER)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()


async def main(port, wait):
    server = await asyncio.start_server(lambda r, w: talk(r, w, wait), "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


asyncio.run(main(int(sys.argv[1]), float(sys.argv[2])))
