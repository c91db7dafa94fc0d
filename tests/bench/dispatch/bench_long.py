"""Long: mails of a shop's length, which PostgreSQL compresses, by the method that Pawl asks for and by its default."""
from bench_dispatch import BATCH, filled
from sides import PawlSide

TITLE = "Long mails: from what is due to their record"
ROW = ('<tr><td style="padding: 12px {pad}px; font-family: Helvetica, Arial, sans-serif; font-size: 14px; color: #{color:06x}">Article {article}</td>'
       '<td align="right" style="padding: 12px; border-bottom: 1px solid #eeeeee">{price}.{cents:02d}</td></tr>\n')
# Elements that are dressed alike, one after the other.
FOOT = "<table>" + "".join(ROW.format(pad=i % 7, color=i * 7919 % 0xffffff, article=i * 7919 % 99991, price=i * 37 % 211, cents=i)
                           for i in range(90)) + "</table>"


def run(bench):
    cluster, n = bench.cluster(), 10000 if bench.quick else 60000
    sides = {key: PawlSide(cluster, key, transfers=BATCH, foot=FOOT) for key in ("lz4", "pglz")}
    for slot in range(16):
        sides["pglz"].db.query(f"ALTER TABLE pawl.contents_{slot} ALTER COLUMN content SET COMPRESSION pglz")
    bench.about("lz4", f"Pawl: a dispatcher that renders, stores, fences, its sends cost nothing; each mail has {len(FOOT) / 1000:.0f} KB more of HTML.")
    bench.about("pglz", "the same where the column says PostgreSQL's default method.")
    bench.interleave("long", f"{n:,} due", {key: filled(side, n, side.round) for key, side in sides.items()}, seconds=bench.seconds * 3 / 8)
    bench.ratio("Compressed by lz4 against PostgreSQL's default", ("long", "lz4"), ("long", "pglz"), "jobs/s")
    for key in sides:
        PawlSide.verify(key)
    bench.note("The jobs and the sender are those of the benchmark of dispatch.")
