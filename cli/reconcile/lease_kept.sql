-- No lease ran out more than ten minutes ago: any dispatcher that runs would have taken it over.
-- returns: judged bigint, broken bigint, out of reach bigint, examples text[], remark text
WITH x AS MATERIALIZED (
    SELECT replace(n[1]::text, '-', '') AS ref, lease_until < clock_timestamp() - interval '10 minutes' AS bad, false AS gone
    FROM claims
)
SELECT count(*) FILTER (WHERE NOT (bad AND gone)), count(*) FILTER (WHERE bad AND NOT gone),
       count(*) FILTER (WHERE bad AND gone), ARRAY(SELECT ref FROM x WHERE bad AND NOT gone ORDER BY ref LIMIT 5),
       NULL::text
FROM x
