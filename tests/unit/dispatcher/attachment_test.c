#include "dispatcher/attachment.h"

#include "tests/unit/dispatcher/send/files_kit.h"

static void measures_path_size_and_hash(void **state)
{
    (void)state;
    struct content content = {0};
    struct err err = {0};
    char hex[CONTENT_HASH];
    kit_put("a", "abc", 3);
    assert_true(attachment_add(&content, kit_folder, "a", &err));
    assert_int_equal(content.n_attachments, 1);
    assert_string_equal(content.attachments[0].path, "a");
    assert_int_equal(content.attachments[0].size, 3);
    // FIPS 180-2 B.1
    assert_string_equal(content_hash_hex(content.attachments[0].sha256, hex),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(attachments_size(&content), 3);
    assert_true(attachments_check(&content, kit_folder, &err));
    content_fini(&content);
}

static void holds_the_limits_to_the_byte(void **state)
{
    (void)state;
    struct content content = {0};
    struct err err = {0};
    AUTO_FREE unsigned char *bytes = xcalloc(1, ATTACHMENT_SIZE_MAX + 1);
    kit_put("a", bytes, ATTACHMENT_SIZE_MAX + 1);
    kit_put("b", bytes, ATTACHMENT_SIZE_MAX);
    kit_put("c", "x", 1);
    kit_put("d", "", 0);
    assert_false(attachment_add(&content, kit_folder, "a", &err));
    assert_non_null(strstr(err.msg, "'a' has 5242881 bytes, more than 5 MiB"));
    assert_false(attachment_add(&content, kit_folder, "d", &err));
    assert_non_null(strstr(err.msg, "'d' is empty"));
    assert_true(attachment_add(&content, kit_folder, "b", &err));
    assert_true(attachment_add(&content, kit_folder, "b", &err));
    assert_false(attachment_add(&content, kit_folder, "c", &err));
    assert_non_null(strstr(err.msg, "'c' they are more than 10 MiB together"));
    assert_int_equal(content.n_attachments, 2);
    content_fini(&content);
    for (int i = 0; i < MESSAGE_ATTACHMENTS_MAX; i++)
        assert_true(attachment_add(&content, kit_folder, "c", &err));
    assert_false(attachment_add(&content, kit_folder, "c", &err));
    assert_non_null(strstr(err.msg, "more than 10 attachments"));
    content_fini(&content);
}

static void without_a_folder_there_are_no_files(void **state)
{
    (void)state;
    struct content content = {0};
    struct err err = {0};
    assert_false(attachment_add(&content, NULL, "a", &err));
    assert_int_equal(err.kind, ERR_INPUT);
    assert_non_null(strstr(err.msg, "dispatcher.attachments"));
    assert_false(attachment_add(&content, "/tmp/pawl-no-such-folder", "a", &err));
    assert_int_equal(err.kind, ERR_TEMP);
}

static void every_change_is_seen(void **state)
{
    (void)state;
    static const char *const changes[] = {"other", "firs", "firstx", "", "FIRST"};
    struct content content = {0};
    struct err err = {0};
    kit_put("a", "first", 5);
    assert_true(attachment_add(&content, kit_folder, "a", &err));
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        kit_put("a", changes[i], strlen(changes[i]));
        err = (struct err){0};
        assert_row(!attachments_check(&content, kit_folder, &err), changes[i]);
        assert_row(err.kind == ERR_INPUT && strstr(err.msg, "'a' is not the file it was"), err.msg);
    }
    kit_put("a", "first", 5);
    assert_true(attachments_check(&content, kit_folder, &err));
    char path[200];
    kit_path("a", path);
    unlink(path);
    assert_false(attachments_check(&content, kit_folder, &err));
    assert_non_null(strstr(err.msg, "'a': there is no such file"));
    content_fini(&content);
}

// In place, between two reads: what was read before is of the old file.
static void a_change_under_way_is_seen_at_the_end(void **state)
{
    (void)state;
    static const char *const changes[] = {"firsX", "firstx", "fi"};
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        struct content content = {0};
        struct attachment_reading reading;
        struct err err = {0};
        unsigned char got[8];
        size_t n = 0;
        kit_put("a", "first", 5);
        assert_true(attachment_add(&content, kit_folder, "a", &err));
        assert_true(attachment_open(&reading, kit_folder, &content.attachments[0], &err));
        assert_true(attachment_read(&reading, got, 3, &n, &err) && n == 3);
        kit_put("a", changes[i], strlen(changes[i]));
        bool ok = true;
        while (ok && n > 0)
            ok = attachment_read(&reading, got, sizeof got, &n, &err);
        assert_row(!ok && strstr(err.msg, "'a' is not the file it was"), changes[i]);
        attachment_close(&reading);
        content_fini(&content);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
            cmocka_unit_test(measures_path_size_and_hash),
            cmocka_unit_test(holds_the_limits_to_the_byte),
            cmocka_unit_test(without_a_folder_there_are_no_files),
            cmocka_unit_test(every_change_is_seen),
            cmocka_unit_test(a_change_under_way_is_seen_at_the_end),
    };
    return cmocka_run_group_tests(tests, kit_set_up, kit_tear_down);
}
