#!/usr/bin/python3
"""A mail server that takes everything, and takes its time: slow_sink.py PORT SECONDS. It answers the final dot after so long."""
import asyncio
import sys


async def talk(reader, writer, wait):
    writer.write(b"220 slow.example.net ESMTP\r\n")
    in_data = False
    while line := await reader.readline():
        if in_data:
            if line != b".\r\n":
                continue
            in_data = False
            await asyncio.sleep(wait)
            writer.write(b"250 2.0.0 taken\r\n")
        elif line.upper().startswith(b"DATA"):
            in_data = True
            writer.write(b"354 go on\r\n")
        elif line.upper().startswith(b"QUIT"):
            writer.write(b"221 2.0.0 bye\r\n")
            break
        else:
            writer.write(b"250 2.0.0 ok\r\n")
        await writer.drain()
    writer.close()


async def main(port, wait):
    server = await asyncio.start_server(lambda r, w: talk(r, w, wait), "127.0.0.1", port, backlog=512)
    await server.serve_forever()


asyncio.run(main(int(sys.argv[1]), float(sys.argv[2])))
