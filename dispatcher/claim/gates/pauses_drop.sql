-- Forgets pauses that hold nothing any more. Ten minutes are longer than any claim that still saw one as it was takes.
-- returns: nothing
DELETE FROM pauses p
WHERE p.until < now() - interval '10 minutes'
  AND NOT EXISTS (SELECT 1 FROM due d WHERE d.lane BETWEEN -(p.id * 100 + 99) AND -(p.id * 100))
