-- What retention needs: it remembers what it emptied, walks old notifications, and sees what still holds something back.

-- keep.keys may be 60 days. 16 slots of 4 days are too few for that: with 8 days a slot is out of use for 120 days. Rows
-- from before lie in slots of the old length; retention asks the rows themselves before it empties a slot.
ALTER TABLE repeats ALTER slot SET DEFAULT ring_slot(now(), 691200);

-- True when a slot of a ring holds nothing that is to be kept: its last turn ended more than `keep` ago, it is not in use
-- and its next turn is more than an hour away. dispatcher/retention/decide.c computes the same.
CREATE FUNCTION ring_slot_over(slot int, slot_seconds bigint, keep_seconds bigint, at timestamptz) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT turns_ago BETWEEN 1 AND 15
                   AND t.s >= (t.turn - turns_ago + 1) * slot_seconds + keep_seconds + 60
                   AND (turns_ago < 15 OR t.s < (t.turn + 1) * slot_seconds - 3600)
            FROM (SELECT extract(epoch FROM at)::bigint AS s, extract(epoch FROM at)::bigint / slot_seconds AS turn) t,
                 LATERAL (SELECT ((t.turn - slot) % 16 + 16) % 16 AS turns_ago) x);

-- Which slot of which ring was emptied last when; a row is written in the transaction that empties the slot.
CREATE TABLE emptied (
    ring   text COLLATE "C",
    slot   int,
    at     timestamptz NOT NULL,
    newest timestamptz, -- time of the newest row that went
    bytes  bigint NOT NULL,
    PRIMARY KEY (ring, slot)
);

-- Up to which creation time notifications had their data blanked, and those older ones that had a delivery without an
-- end then. One row, whose lock is the turn.
CREATE TABLE blanked_until (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    at  timestamptz NOT NULL
);
INSERT INTO blanked_until (at) VALUES ('-infinity');
CREATE TABLE blank_later (
    bucket          int NOT NULL,
    notification_id uuid NOT NULL,
    PRIMARY KEY (bucket, notification_id)
);

-- A B-tree, although BRIN would be smaller: blanking moves rows, and vacuum gives their place to new ones, so that the
-- table is not ordered by time for long. It grows at its right end only.
CREATE INDEX notifications_created ON notifications (created_at);

GRANT SELECT, INSERT, UPDATE ON emptied TO pawl_maint;
GRANT SELECT, UPDATE ON blanked_until TO pawl_maint;
GRANT SELECT, INSERT, DELETE ON blank_later TO pawl_maint;
GRANT SELECT ON policy_versions, waiting, due, claims, deliveries, notifications TO pawl_maint;
GRANT UPDATE (data) ON notifications TO pawl_maint;
GRANT SELECT ON emptied, blanked_until, blank_later TO pawl_operator;
