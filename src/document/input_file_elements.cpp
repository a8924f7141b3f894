#include <vector>

#include <bench/document/elements.hpp>

namespace bench::document {
namespace {

/// `init_with` of every set.
AttributeKind init_with() {
  return {"init_with", Type::text, "FILE[:NAME]: the set of another file that this one extends"};
}

}  // namespace

const std::vector<ElementKind> elements_of_a_file = {
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

const std::vector<ElementKind> elements_of_parameters = {
    {.name = "benchmark",
     .meaning = "one benchmark",
     .children = {"comment", "parameterset", "fileset", "substituteset", "patternset", "step",
                  "analyser", "result"},
     .attributes = {{"name", Type::name, "its name", "benchmark"},
                    {"outpath", Type::path, "where its runs are stored, relative to the file"},
                    {"file_path_ref", Type::path,
                     "base of relative file names, relative to the file"}},
     .details = "A YAML file without the key `benchmark` is one benchmark. A list is several.\n"
                "`outpath` may hold $jube_benchmark_home, $jube_benchmark_name and environment "
                "variables.",
     .example = "name: hello\noutpath: hello_run\nstep: {name: say, do: echo hello}",
     .see_also = "general_structure_yaml, general_structure_xml"},
    {.name = "comment",
     .meaning = "what the benchmark is for",
     .has_text = true,
     .details = "`run` and `info` show it; `run -m` and `bench comment` change it.",
     .example = "comment: The first run after the update of the network."},
    {.name = "parameterset",
     .meaning = "parameters that steps use together",
     .children = {"parameter"},
     .attributes = {{"name", Type::name, "how a step names it"},
                    init_with(),
                    {"duplicate",
                     Type::text,
                     "what happens if a parameter is defined twice",
                     "replace",
                     {"replace", "concat", "error"}}},
     .example = "parameterset:\n  name: sizes\n  parameter: {nodes: [1, 2, 4], words: 1024}",
     .see_also = "parameter, duplicate, short_forms"},
    {.name = "parameter",
     .meaning = "a name and its values, which span the parameter space",
     .has_text = true,
     .attributes =
         {{"name", Type::name, "how texts name it: $name or ${name}"},
          {"type", Type::text, "type of the values", "string", {"int", "float", "string"}},
          {"mode",
           Type::text,
           "how the text is evaluated",
           "text",
           {"text", "python", "perl", "shell", "env", "tag"}},
          {"separator", Type::text, "what separates its values; empty: one value", ","},
          {"export", Type::flag, "add it to the environment of the commands", "false"},
          {"unit", Type::text, "shown with it in results; columns calculate with it"},
          {"update_mode",
           Type::text,
           "when it is evaluated again",
           "never",
           {"never", "use", "step", "cycle", "always"}},
          {"duplicate",
           Type::text,
           "what happens if the set defines it twice",
           "none",
           {"none", "replace", "concat", "error"}},
          {"selection", Type::text, "fixes the value to this text"}},
     .details =
         "The text is split at the separator, and each piece is a value. A step runs once for\n"
         "each combination of all values.",
     .example = "parameterset:\n"
                "  name: sizes\n"
                "  parameter:\n"
                "    - {name: nodes, type: int, _: \"1,2,4\"}\n"
                "    - {name: tasks, mode: python, _: 4 * $nodes}",
     .see_also = "parameter_modes, update_mode, duplicate, substitution, short_forms"},
};

namespace {

std::vector<AttributeKind> of_copies() {
  return {{"source_dir", Type::path, "directory that precedes each path"},
          {"directory", Type::path, "the old name of source_dir"},
          {"target_dir", Type::path, "directory that precedes each new name; created if missing"},
          {"name", Type::names, "new names, one for each path", in_words("the old names")},
          {"separator", Type::text, "what separates the paths", ","},
          {"rel_path_ref",
           Type::text,
           "external: paths are relative to the input file; internal: to the work directory",
           "external",
           {"external", "internal"}},
          {"file_path_ref", Type::path, "another base of relative paths"},
          {"active", Type::condition, "if false, nothing is done", "true"}};
}

}  // namespace

const std::vector<ElementKind> elements_of_files = {
    {.name = "fileset",
     .meaning = "files that a workpackage needs in its work directory",
     .children = {"copy", "link", "prepare"},
     .attributes = {{"name", Type::name, "how a step names it"}, init_with()},
     .details = "Its elements are executed in the order of the file, before the step's commands.",
     .example = "fileset:\n  name: input\n  copy: settings.txt\n  prepare: gunzip -k data.gz"},
    {.name = "copy",
     .meaning = "files to copy into the work directory",
     .has_text = true,
     .attributes = of_copies(),
     .details =
         "The text has paths or shell patterns. An existing file is kept. Of a link, what it "
         "leads to is copied; links in a directory stay links.",
     .example = "fileset:\n  name: input\n  copy: {source_dir: data, _: \"*.txt\"}"},
    {.name = "link",
     .meaning = "files to link to from the work directory",
     .has_text = true,
     .attributes = of_copies(),
     .details = "The same as `copy`, with symbolic links.",
     .example = "fileset:\n  name: input\n  link: {name: weights, _: /data/weights.bin}"},
    {.name = "prepare",
     .meaning = "a shell command that runs before the step's own",
     .has_text = true,
     .attributes = {{"stdout", Type::path, "file of the output", "stdout"},
                    {"stderr", Type::path, "file of the error output", "stderr"},
                    {"work_dir", Type::path, "where it runs", in_words("the work directory")},
                    {"active", Type::condition, "if false, it does not run", "true"}},
     .example = "fileset:\n  name: input\n  prepare: mkdir -p checkpoints"},
    {.name = "substituteset",
     .meaning = "texts to replace in files of the work directory",
     .children = {"iofile", "sub"},
     .attributes = {{"name", Type::name, "how a step names it"}, init_with()},
     .details = "Every `sub` is applied to every `iofile`, one after the other.",
     .example = "substituteset:\n"
                "  name: fill\n"
                "  iofile: {in: settings.in, out: settings}\n"
                "  sub: {source: \"#NODES#\", dest: $nodes}"},
    {.name = "iofile",
     .meaning = "a file in which the texts are replaced",
     .attributes =
         {{"in", Type::path, "the file that is read"},
          {"out", Type::path, "the file that is written; it may be the same"},
          {"out_mode", Type::text, "w: replace the file; a: append to it", "w", {"w", "a"}}},
     .example = "substituteset:\n"
                "  name: fill\n"
                "  iofile: {in: settings.in, out: settings}\n"
                "  sub: {source: \"#NODES#\", dest: $nodes}"},
    {.name = "sub",
     .meaning = "one replacement",
     .has_text = true,
     .attributes = {{"source", Type::text, "what to replace"},
                    {"dest", Type::text, "the new text; a regex may use \\1",
                     in_words("the content")},
                    {"mode", Type::text, "text, or regex for a regular expression", "text"}},
     .example = "substituteset:\n"
                "  name: fill\n"
                "  iofile: {in: settings, out: settings}\n"
                "  sub: {mode: regex, source: \"nodes = [0-9]+\", dest: nodes = $nodes}"},
};

namespace {

ElementKind pattern() {
  return {.name = "pattern",
          .meaning = "a regular expression that finds a value, or a value derived from others",
          .has_text = true,
          .attributes =
              {{"name", Type::name, "name of the value"},
               {"mode",
                Type::text,
                "how the text is used",
                "pattern",
                {"pattern", "text", "python", "perl", "shell"}},
               {"type", Type::text, "type of the value", "string", {"int", "float", "string"}},
               {"unit", Type::text, "shown with it in results; columns calculate with it"},
               {"default", Type::text, "the value if nothing matches"},
               better(),
               {"dotall", Type::flag, "let a dot match a newline", "false"}},
          .details =
              "In mode pattern the text is a regular expression as in Python, and its first group "
              "is the\n"
              "value. In the other modes the text is evaluated. It may contain other patterns.",
          .example =
              "patternset:\n"
              "  name: output\n"
              "  pattern:\n"
              "    - {name: loss, type: float, _: \"loss: $jube_pat_fp\"}\n"
              "    - {name: double, mode: python, type: float, _: 2 * $loss}",
          .see_also = "jube_pattern, statistics"};
}

}  // namespace

const std::vector<ElementKind> elements_of_analysis = {
    {.name = "patternset",
     .meaning = "patterns that find values in output files",
     .children = {"pattern"},
     .attributes = {{"name", Type::name, "how an analyser names it"}, init_with()},
     .example = "patternset:\n"
                "  name: output\n"
                "  pattern: {name: loss, type: float, _: \"loss: $jube_pat_fp\"}"},
    pattern(),
    {.name = "analyser",
     .meaning = "searches the files of a step for patterns",
     .children = {"use", "analyse"},
     .attributes = {{"name", Type::name, "how a result names it"},
                    {"reduce", Type::flag, "all iterations of a combination make one row", "true"}},
     .example = "patternset: {name: output, pattern: {name: loss, _: \"loss: $jube_pat_fp\"}}\n"
                "step: {name: train, do: ./train}\n"
                "analyser: {name: read, use: output, analyse: {step: train, file: stdout}}"},
    {.name = "analyse",
     .meaning = "the files of one step",
     .children = {"file"},
     .attributes = {{"step", Type::name, "the step"}},
     .example = "analyser:\n  name: read\n  analyse: {step: train, file: [stdout, \"*.log\"]}"},
    {.name = "file",
     .meaning = "a file that is analysed",
     .has_text = true,
     .attributes = {{"use", Type::names, "additional pattern sets for this file"}},
     .details = "The text has names or shell patterns, relative to the work directory.",
     .example = "analyser:\n"
                "  name: read\n"
                "  analyse: {step: train, file: {use: errors, _: stderr}}"},
};

}  // namespace bench::document
