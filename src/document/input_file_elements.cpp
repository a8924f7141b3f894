#include "table.hpp"

#include <vector>

#include <bench/document/elements.hpp>

namespace bench::language {

const std::vector<Element> elements_of_a_file = {
    {.name = "jube",
     .meaning = "an input file: benchmarks, and what they share",
     .children = {"benchmark", "parameterset", "fileset", "substituteset", "patternset",
                  "selection", "include-path", "check_tags", "tags"},
     .attributes = {{"version", Type::text,
                     "version of the language that the file is written for"}},
     .details = "The root of an XML file. In YAML its elements are the keys of the file.",
     .example = "benchmark:\n  - {name: first, step: {name: say, do: echo 1}}\n"
                "  - {name: second, step: {name: say, do: echo 2}}"},
    {.name = "selection",
     .meaning = "chooses benchmarks, and tags that are always active",
     .children = {"only", "not", "tag"},
     .example = "selection: {not: second, tag: small}\n"
                "benchmark:\n  - {name: first, step: {name: say, do: echo 1}}\n"
                "  - {name: second, step: {name: say, do: echo 2}}"},
    {.name = "only",
     .meaning = "the benchmarks that run",
     .has_text = true,
     .details = "Names, separated by commas. All other benchmarks do not run.",
     .example =
         "selection: {only: first}\nbenchmark: {name: first, step: {name: say, do: echo 1}}"},
    {.name = "not",
     .meaning = "the benchmarks that do not run",
     .has_text = true,
     .details = "Names, separated by commas.",
     .example =
         "selection: {not: second}\nbenchmark: {name: first, step: {name: say, do: echo 1}}"},
    {.name = "tags",
     .meaning = "describes the tags of a file and their valid combinations",
     .children = {"check_tags", "tag"},
     .attributes = {{"forced", Type::flag, "require a description of every tag that is used",
                     "false"}},
     .details = "`bench tag FILE` shows them.",
     .example = "tags:\n"
                "  check_tags: small ^ large\n"
                "  tag: [{name: small, _: one node}, {name: large, _: all nodes}]\n"
                "step: [{name: s, tag: small, do: echo 1}, {name: l, tag: large, do: echo 8}]"},
    {.name = "tag",
     .meaning = "a description, an active tag, or a condition",
     .has_text = true,
     .attributes = {{"name", Type::name, "in `tags`: the tag that the text describes"}},
     .details = "In `tags` the description of a tag; in `selection` an active tag. As an "
                "attribute of any\n"
                "element a tag expression: if it is false, the element does not exist.",
     .example = "step: {name: say, do: [echo always, {tag: verbose, _: echo more}]}",
     .see_also = "tag_expression"},
    {.name = "check_tags",
     .meaning = "a tag expression that must be true; otherwise nothing runs",
     .has_text = true,
     .example = "check_tags: small ^ large\n"
                "step: [{name: s, tag: small, do: echo 1}, {name: l, tag: large, do: echo 8}]",
     .see_also = "tag_expression"},
    {.name = "include-path",
     .meaning = "directories to search for included files",
     .has_text = true,
     .children = {"path"},
     .details = "They are searched after --include-path, and before JUBE_INCLUDE_PATH and the "
                "directory of the\n"
                "file.",
     .example = "include-path: [sets, ../shared]"},
    {.name = "path",
     .meaning = "a directory of the include path",
     .has_text = true,
     .details = "Relative to the input file; ~ and $NAME are expanded.",
     .example = "include-path: {path: [sets, ../shared]}"},
    {.name = "include",
     .meaning = "includes a part of another file",
     .attributes = {{"from", Type::path, "the file"},
                    {"path", Type::text, "XPath of the included part", in_words("its root")}},
     .details = "An element of XML files. In YAML: `!include FILE[:[\"key\"][0]]`.",
     .example = "<include from=\"sets.xml\" path=\"parameterset\"/>"},
};

}  // namespace bench::language
