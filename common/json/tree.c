#include "common/json/tree.h"

#include "common/json/grammar.h"

enum { NODES_FIRST = 64 };

struct building {
    struct json_tree *tree;
    size_t open[JSON_TREE_DEPTH_MAX +
                1]; // by depth: the item that is being read, the document at 0
    size_t document_len;
    bool bad; // a text that is none
};

void json_tree_fini(struct json_tree *tree)
{
    free(tree->nodes);
    free(tree->texts);
    *tree = (struct json_tree){0};
}

static size_t add_node(struct json_tree *tree)
{
    if (tree->n == tree->room) {
        tree->room = tree->room ? 2 * tree->room : NODES_FIRST;
        tree->nodes = xrealloc(tree->nodes, tree->room * sizeof *tree->nodes);
    }
    tree->nodes[tree->n] = (struct json_node){.size = 1};
    return tree->n++;
}

// Texts never move: decoded they are not longer than the document.
static void make_room(struct building *building)
{
    struct json_tree *tree = building->tree;
    if (tree->texts_room >= building->document_len)
        return;
    free(tree->texts);
    tree->texts_room = building->document_len;
    tree->texts = xmalloc(tree->texts_room);
}

static void add_char(struct json_tree *tree, uint32_t c)
{
    char room[8];
    struct text utf8 = {.ptr = room, .room = sizeof room, .max = sizeof room - 1};
    if (!utf8_add(&utf8, c))
        abort(); // four bytes are the most
    memcpy(tree->texts + tree->texts_len, room, utf8.len);
    tree->texts_len += utf8.len;
}

// A checked string token's text.
static struct slice text_of(struct building *building, struct slice token)
{
    struct slice inside = {token.ptr + 1, token.len - 2};
    struct json_tree *tree = building->tree;
    if (inside.len == 0 || !memchr(inside.ptr, '\\', inside.len))
        return inside;
    if (tree->texts_len == 0)
        make_room(building);
    size_t start = tree->texts_len;
    for (size_t at = 0; at < inside.len;) {
        uint32_t c = json_char(inside, &at);
        building->bad |= c >= 0xD800 && c <= 0xDFFF;
        if (!building->bad)
            add_char(tree, c);
    }
    return (struct slice){tree->texts + start, tree->texts_len - start};
}

static void enter(void *ctx, const struct json_item *item)
{
    struct building *building = ctx;
    size_t at = add_node(building->tree);
    building->open[item->depth] = at;
    building->tree->nodes[building->open[item->depth - 1]].n++;
    if (item->name.ptr)
        building->tree->nodes[at].name = text_of(building, item->name);
}

static void close_node(struct building *building, size_t at, struct json_token value)
{
    struct json_node *node = &building->tree->nodes[at];
    node->kind = value.kind;
    node->size = (uint32_t)(building->tree->n - at);
    node->text = value.kind == JSON_KIND_STRING ? text_of(building, value.raw) : value.raw;
}

static void leave(void *ctx, const struct json_item *item, struct json_token value)
{
    struct building *building = ctx;
    close_node(building, building->open[item->depth], value);
}

bool json_tree_read(struct json_tree *tree, struct slice document, struct err *err)
{
    struct building building = {.tree = tree, .document_len = document.len};
    struct json_visitor visitor = {.ctx = &building,
            .deeper = JSON_TREE_DEPTH_MAX - JSON_DEPTH_MAX,
            .enter = enter,
            .leave = leave};
    struct json_token root;
    tree->n = 0;
    tree->texts_len = 0;
    building.open[0] = add_node(tree);
    bool read = json_walk(document, &visitor, &root, err);
    if (read)
        close_node(&building, 0, root);
    if (read && !building.bad)
        return true;
    tree->n = 0;
    return read ? err_set(err, ERR_INPUT, "a string holds a lone surrogate") : false;
}

const struct json_node *json_tree_next(
        const struct json_node *container, const struct json_node *before)
{
    const struct json_node *next = before ? before + before->size : container + 1;
    return next < container + container->size ? next : NULL;
}

const struct json_node *json_tree_member(const struct json_node *object, struct slice name)
{
    const struct json_node *at = NULL;
    if (!object || object->kind != JSON_KIND_OBJECT)
        return NULL;
    while ((at = json_tree_next(object, at)) != NULL) {
        if (slice_eq(at->name, name))
            return at;
    }
    return NULL;
}
