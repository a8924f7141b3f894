#include "command.hpp"
#include "runs.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/insight/why.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::cli {
namespace {

using insight::Remark;
using insight::Remedy;
using insight::RunView;
using workspace::Workpackage;
using workspace::Workspace;

struct WhyOptions {
  std::vector<std::string> words;  ///< Of the command line: DIR, workpackages and `NAME=VALUE`.
  std::vector<std::string> ids;
  std::string step;
  std::size_t lines = 10;
};

/// What the words of the command line mean.
struct Question {
  RunChoice choice;
  std::vector<long long> workpackages;
  workspace::Parameters point;
};

/// A number is a workpackage; the directory `000003` can be given as `./000003`.
Question question_of(const WhyOptions& options) {
  Question question;
  question.choice.ids = options.ids;
  bool has_directory = false;
  for (const std::string& word : options.words) {
    if (const auto number = parse_integer(word); number && *number >= 0)
      question.workpackages.push_back(*number);
    else if (auto parameter = name_and_value(word))
      question.point.push_back(std::move(*parameter));
    else if (!std::exchange(has_directory, true))
      question.choice.directory = word;
    else
      throw Error(Id::usage, fmt::format("'{}' is neither a workpackage nor a point", word),
                  "a workpackage is a number, a point is NAME=VALUE ...");
  }
  if (question.workpackages.empty() == question.point.empty())
    throw Error(Id::usage,
                question.point.empty() ? "no workpackage and no point given"
                                       : "both a workpackage and a point given",
                "`bench why DIR 17`, or `bench why DIR batch_size=8 precision=bf16`");
  return question;
}

std::string remarks_text(const std::vector<Remark>& remarks) {
  constexpr std::size_t indent = 2;
  std::size_t width = 0;
  for (const Remark& remark : remarks)
    width = std::max(width, display_width(remark.about) + 1);
  std::string text;
  for (const Remark& remark : remarks)
    text += fmt::format("{}{}:{}{}\n", std::string(indent, ' '), remark.about,
                        std::string(width + 1 - display_width(remark.about), ' '),
                        hanging(remark.text, indent + width + 2));
  return text;
}

/// The commands that help a workpackage on.
std::string remedy_text(const space::Run& run, const RunView& view, const Workpackage& workpackage,
                        Remedy remedy) {
  const std::string target = target_of(run);
  if (remedy == Remedy::go_on)
    return fmt::format("bench continue {}", target);
  const auto failed = std::ranges::count(view.all(), workspace::State::failed, &Workpackage::state);
  if (remedy == Remedy::make_again && failed == 1)
    return repeat_command(run);
  const bool parent = remedy == Remedy::make_parent_again && !workpackage.parents.empty();
  return fmt::format("bench remove {} --workpackage {}\nbench continue {}", target,
                     parent ? workpackage.parents.front() : workpackage.id, target);
}

void explain_one(const space::Run& run, const RunView& view, long long id, std::size_t lines) {
  const Workpackage& workpackage = view.at(id);
  const insight::Explanation explanation = insight::explain(run, view, id);
  print(fmt::format("workpackage {} ({}{}): {}\n", id, workpackage.step,
                    run.benchmark.step(workpackage.step)->most_iterations() > 1
                        ? fmt::format(", iteration {}", workpackage.iteration)
                        : "",
                    name_of(workpackage.state)));
  std::vector<Remark> remarks;
  if (!workpackage.parameters.empty())
    remarks.push_back({"parameters", parameters_text(workpackage.parameters)});
  if (!workpackage.was_never_made())
    remarks.push_back({"directory", short_path(run.directory.path / workpackage.directory)});
  remarks.insert(remarks.end(), explanation.remarks.begin(), explanation.remarks.end());
  if (explanation.remedy != Remedy::none)
    remarks.push_back({"next", remedy_text(run, view, workpackage, explanation.remedy)});
  print(remarks_text(remarks));
  const auto print_end = [](const std::filesystem::path& file, const FileEnd& end) {
    print(fmt::format("\n==> {}{} <==\n{}\n", end.whole ? "" : "end of ", short_path(file),
                      end.text.empty() ? "(empty)" : end.text));
  };
  for (const std::filesystem::path& file : explanation.searched) {
    const FileEnd end = end_of_file(space::open_output(run, file), lines);
    if (!end.whole)
      print(fmt::format("\n==> start of {} <==\n{}\n", short_path(file),
                        start_of_file(space::open_output(run, file), lines)));
    print_end(file, end);
  }
  for (const std::filesystem::path& file : explanation.output)
    if (const FileEnd end = end_of_file(space::open_output(run, file), lines); !end.text.empty())
      print_end(file, end);
}

void explain_each(const space::Run& run, const RunView& view, const std::vector<long long>& ids,
                  std::size_t lines) {
  for (std::size_t k = 0; k < ids.size(); ++k) {
    print(k > 0 ? "\n" : "");
    explain_one(run, view, ids[k], lines);
  }
}

/// One line for each of many.
void list_some(const RunView& view, const std::vector<long long>& ids) {
  constexpr std::size_t most = 10;
  std::vector<std::vector<std::string>> rows;
  for (const long long id : ids) {
    const Workpackage& one = view.at(id);
    rows.push_back({std::to_string(id), std::string(name_of(one.state)),
                    parameters_text(one.parameters), one.reason});
    if (rows.size() == most)
      break;
  }
  print(aligned_lines(rows, "  "));
  if (ids.size() > most)
    print(fmt::format("  and {} more\n", ids.size() - most));
}

void explain_point(const space::Run& run, const RunView& view, const Question& question,
                   const WhyOptions& options) {
  constexpr std::size_t few = 3;
  bool first = true;
  for (const insight::PointInStep& found :
       insight::find_point(run, view, question.point, options.step)) {
    if (!std::exchange(first, false))
      print("\n");
    const std::size_t count = found.workpackages.size();
    if (count == 0)
      print(fmt::format("step {}: no workpackage has {}\n{}", found.step,
                        parameters_text(question.point), remarks_text(found.absence)));
    else if (count > few)
      print(fmt::format("step {}: {} have {}; `bench why {} NUMBER` explains one\n", found.step,
                        plural(count, "workpackage"), parameters_text(question.point),
                        shell_quote(short_path(run.directory.path))));
    if (count > few)
      list_some(view, found.workpackages);
    else
      explain_each(run, view, found.workpackages, options.lines);
  }
}

void explain_run(const workspace::RunDirectory& directory, const Question& question,
                 const WhyOptions& options) {
  Workspace workspace = Workspace::open(directory.path, Workspace::Access::read);
  const space::Run run = space::load_run(directory, workspace);
  if (!options.step.empty())
    check_step(run, options.step);
  const RunView view(run, workspace);
  if (!question.point.empty())
    explain_point(run, view, question, options);
  explain_each(run, view, question.workpackages, options.lines);
}

}  // namespace

std::function<int()> declare_why(CLI::App& app) {
  const auto options = std::make_shared<WhyOptions>();
  app.add_option("DIR", options->words,
                 "outpath or run directory (default: here), then numbers of workpackages, or a "
                 "point: NAME=VALUE ...")
      ->required()
      ->type_name("[WORKPACKAGE... | NAME=VALUE...]");
  app.add_option("-i,--id", options->ids,
                 "run: a number, -1 for the newest, last or all; default: last")
      ->type_name("ID");
  app.add_option("-s,--step", options->step, "with a point: only in this step")->type_name("STEP");
  app.add_option("-n,--lines", options->lines, "how many lines of each output to show")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  return [options] {
    const Question question = question_of(*options);
    return for_each_run(question.choice.runs(), [&](const workspace::RunDirectory& run) {
      explain_run(run, question, *options);
    });
  };
}

}  // namespace bench::cli
