-- The mark "on the wire": the next step of each delivery, unless it moved on since it was taken. $7: its content is of now. $8: the
-- provider.
-- returns: ordinality (from 1) of each member that was marked; only these may be sent
UPDATE deliveries d
SET state = 1, tries = d.tries + 1, wire_at = now(), updated_at = now(),
    provider = u.p, passed_on = false,
    provider_at = CASE WHEN d.provider IS DISTINCT FROM u.p THEN now() ELSE d.provider_at END,
    content_slot = CASE WHEN u.f THEN (SELECT ring_slot(now(), 172800)) ELSE d.content_slot END,
    possible_duplicates = d.possible_duplicates + (d.unknown_tries > 0)::int4
FROM (SELECT unnest($1::int4[]) AS b, unnest($2::uuid[]) AS n, unnest($3::int4[]) AS c, unnest($4::text[]) AS tg,
             unnest($5::int4[]) AS rd, unnest($6::int4[]) AS t, unnest($7::bool[]) AS f, unnest($8::text[]) AS p,
             generate_subscripts($1::int4[], 1) AS i) u
WHERE d.bucket = ANY(ARRAY[u.b]) AND d.notification_id = u.n AND d.channel = u.c AND d.target = u.tg AND d.redrive = u.rd
  AND d.tries = u.t AND d.state = 0
RETURNING u.i
