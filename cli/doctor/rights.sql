-- The rights without which a program does not work, and those that none may have; a row for each that is not so. A table
-- that is not there is the schema's matter.
-- returns: role text, tables' name text, privilege text, has boolean
WITH rule AS (
    SELECT x.role, t.name, p.privilege, x.wanted
    FROM (VALUES
        ('pawl_receiver', 'migrations policy_versions policy_texts names key_gen keys moves notifications orders waiting', 'SELECT', true),
        ('pawl_receiver', 'keys replay_keys bodies repeats deliveries due moves notifications orders waiting rejected receipts attempts suppressions', 'INSERT', true),
        ('pawl_receiver', 'orders secret_uses', 'UPDATE', true),
        ('pawl_receiver', 'waiting', 'DELETE', true),
        ('pawl_receiver', 'contents attempts bodies', 'SELECT', false),
        ('pawl_dispatcher', 'migrations policy_versions policy_texts names notifications deliveries due claims contents pauses suppressions', 'SELECT', true),
        ('pawl_dispatcher', 'due claims unknown_outcomes contents attempts suppressions', 'INSERT', true),
        ('pawl_dispatcher', 'deliveries claims', 'UPDATE', true),
        ('pawl_dispatcher', 'due claims unknown_outcomes pauses', 'DELETE', true),
        ('pawl_dispatcher', 'keys bodies moves orders notifications', 'INSERT UPDATE DELETE TRUNCATE', false),
        ('pawl_dispatcher', 'provider_tokens', 'SELECT INSERT UPDATE DELETE', true),
        ('pawl_dispatcher', 'rates', 'SELECT INSERT UPDATE', true),
        ('pawl_receiver', 'provider_tokens', 'SELECT INSERT UPDATE DELETE', false),
        ('pawl_operator', 'provider_tokens', 'SELECT INSERT UPDATE DELETE', false),
        ('pawl_maint', 'key_gen', 'SELECT INSERT UPDATE', true),
        ('pawl_maint', 'keys_0 replay_keys_0 bodies_0 repeats_0 moves_0 attempts_0 contents_0 rejected_0 receipts_0', 'SELECT TRUNCATE', true),
        ('pawl_maint', 'cap_slots', 'SELECT DELETE', true),
        ('pawl_maint', 'orders notifications deliveries audit_0', 'INSERT DELETE TRUNCATE', false),
        ('pawl_operator', 'policy_versions policy_texts names audit deliveries due attempts unknown_outcomes pauses suppressions', 'INSERT', true),
        ('pawl_operator', 'pauses', 'UPDATE', true),
        ('pawl_operator', 'unknown_outcomes cap_slots suppressions', 'DELETE', true),
        ('pawl_operator', 'orders keys bodies moves rejected', 'INSERT UPDATE DELETE TRUNCATE', false),
        ('pawl_operator', 'attempts audit', 'UPDATE DELETE TRUNCATE', false)
    ) x(role, tables, privileges, wanted),
    unnest(string_to_array(x.tables, ' ')) t(name), unnest(string_to_array(x.privileges, ' ')) p(privilege)
)
SELECT rule.role, rule.name, rule.privilege, NOT rule.wanted
FROM rule
JOIN pg_roles r ON r.rolname = rule.role
JOIN pg_class c ON c.relname = rule.name AND c.relnamespace = to_regnamespace('pawl')
WHERE has_table_privilege(r.oid, c.oid, rule.privilege) <> rule.wanted
ORDER BY 1, 2, 3
