// help.h: the help texts, all made from the table of commands.
#pragma once
#include "cli/command.h"
#include "common/text.h"

void help_overview(struct text *out);
void help_command(const struct command *command, struct text *out);
// {"commands":[..],"flags":[..],"exit_codes":[..]}
void help_json(struct text *out);
// For `complete -F`: words, then flags of the command typed so far.
void help_completion_bash(struct text *out);

int help_run(const struct call *call);        // pawl help [TOPIC]
int help_version(const struct call *call);    // pawl version
int help_completion(const struct call *call); // pawl completion bash
