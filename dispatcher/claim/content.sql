-- What earlier tries rendered, from its ring slots ($6): together at most $7 bytes, and one more; further ones are ''. What is
-- gone has no row.
-- returns: ordinality (from 1) of the member, content; in their order
SELECT u.i, CASE WHEN sum(octet_length(c.content)) OVER (ORDER BY u.i ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) >= $7::int8
                 THEN '' ELSE c.content END
FROM (SELECT unnest($1::int4[]) AS b, unnest($2::uuid[]) AS n, unnest($3::int4[]) AS c, unnest($4::text[]) AS tg,
             unnest($5::int4[]) AS rd, unnest($6::int4[]) AS s, generate_subscripts($1::int4[], 1) AS i) u
CROSS JOIN LATERAL (
    SELECT x.content FROM contents x
    WHERE x.slot = u.s AND x.bucket = u.b AND x.notification_id = u.n AND x.channel = u.c AND x.target = u.tg
      AND x.redrive = u.rd
    LIMIT 1) c
ORDER BY u.i
