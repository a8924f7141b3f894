#include "table.hpp"

#include <vector>

#include <bench/document/elements.hpp>

namespace bench::language {
namespace {

Element pattern() {
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

const std::vector<Element> elements_of_analysis = {
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

}  // namespace bench::language
