-- Retention deletes cap slots whose time is over. Slots are found in the order of their key: no index covers a date.
GRANT SELECT, DELETE ON cap_slots TO pawl_maint;
GRANT UPDATE (taken_at) ON cap_slots TO pawl_maint; -- only so that it may lock rows
