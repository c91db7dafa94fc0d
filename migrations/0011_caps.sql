-- Retention deletes cap slots whose time is over. Slots are found in the order of their key: no index covers a date.
GRANT SELECT, DELETE ON cap_slots TO pawl_maint;
GRANT UPDATE (taken_at) ON cap_slots TO pawl_maint; -- only so that it may lock rows

-- A receipt counts only against the try that it is of: of the same provider, and not of an earlier one that failed.
GRANT SELECT (provider) ON deliveries TO pawl_receiver;
GRANT SELECT (bucket, channel, notification_id, redrive, kind, provider_id) ON receipts TO pawl_receiver;
