// policy_merge.h: the files of a policy as one tree.
#pragma once
#include "common/config/yaml.h"

// A map that borrows the nodes of docs. Sections that are maps of named things (sources, channels,
// messages) are joined over the files; any other section may stand in one file only.
struct policy_merge {
    struct yaml_node root;
};

void policy_merge_init(
        struct policy_merge *merge, struct yaml_doc *const *docs, size_t n_docs, struct diag *diag);
void policy_merge_fini(struct policy_merge *merge);
