#include "table.hpp"

#include <vector>

#include <bench/document/elements.hpp>

namespace bench::language {

const std::vector<Element> elements_of_parameters = {
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

}  // namespace bench::language
