#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/help.h"

#include <stdio.h>

static void flag_words(uint64_t flags, struct text *out)
{
    for (int i = 0; i < FLAG_COUNT; i++)
        if (flags & (1ULL << i))
            text_fmt(out, " --%s", flag_rows[i].name);
}

// The first words, each once; they follow one another in the table.
static void first_words(struct text *out)
{
    size_t before = 0;
    for (size_t i = 0; i < commands_count; i++) {
        size_t len = strcspn(commands[i].words, " ");
        bool same = i > 0 && len == before &&
                    strncmp(commands[i].words, commands[i - 1].words, len) == 0;
        if (!same)
            text_fmt(out, " %.*s", (int)len, commands[i].words);
        before = len;
    }
}

static void second_words(struct text *out)
{
    for (size_t i = 0; i < commands_count; i++) {
        const char *space = strchr(commands[i].words, ' ');
        if (space)
            text_fmt(out, "    %.*s) words=\"$words %.*s\" ;;&\n", (int)(space - commands[i].words),
                    commands[i].words, (int)strcspn(space + 1, " "), space + 1);
    }
}

static void third_words(struct text *out)
{
    for (size_t i = 0; i < commands_count; i++) {
        const char *last = strrchr(commands[i].words, ' ');
        if (last && strchr(commands[i].words, ' ') != last)
            text_fmt(out, "    \"%.*s\") words=\"$words %s\" ;;&\n",
                    (int)(last - commands[i].words), commands[i].words, last + 1);
    }
}

void help_completion_bash(struct text *out)
{
    text_str(out, "# bash completion for pawl: source <(pawl completion bash)\n"
                  "_pawl() {\n"
                  "  local cur=${COMP_WORDS[COMP_CWORD]} one=${COMP_WORDS[1]} "
                  "two=${COMP_WORDS[2]} three=${COMP_WORDS[3]} words= flags=\n"
                  "  if [ \"$COMP_CWORD\" = 1 ]; then\n    words=\"");
    first_words(out);
    text_str(out, "\"\n  elif [ \"$COMP_CWORD\" = 2 ]; then\n    case \"$one\" in\n");
    second_words(out);
    text_str(out, "    esac\n  elif [ \"$COMP_CWORD\" = 3 ]; then\n    case \"$one $two\" in\n");
    third_words(out);
    text_str(out, "    esac\n  fi\n  case \"$one $two $three\" in\n");
    for (size_t i = 0; i < commands_count; i++) {
        bool one_word = !strchr(commands[i].words, ' ');
        text_fmt(out, "  \"%s%s\"*) flags=\"", commands[i].words, one_word ? " " : "");
        flag_words(commands[i].flags, out);
        text_str(out, "\" ;;\n");
    }
    text_str(out, "  esac\n  case \"$cur\" in\n  -*) words=\"$flags");
    flag_words(FLAGS_GLOBAL, out);
    text_str(out, "\" ;;\n  esac\n"
                  "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                  "  [ -n \"$words\" ] || COMPREPLY=($(compgen -f -- \"$cur\"))\n"
                  "}\ncomplete -F _pawl pawl\n");
}
