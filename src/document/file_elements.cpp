#include "table.hpp"

#include <vector>

#include <bench/document/elements.hpp>

namespace bench::language {
namespace {

std::vector<Attribute> of_copies() {
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

const std::vector<Element> elements_of_files = {
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

}  // namespace bench::language
