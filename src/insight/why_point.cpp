
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/insight/why.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/definitions.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::insight {
namespace {

using document::Node;
using workspace::Parameters;
using workspace::value_of;
using workspace::Workpackage;

/// `8` is `8.0`.
bool is_same_value(const std::string& a, const std::string& b) {
  if (a == b)
    return true;
  const auto number = parse_number(a);
  return number && number == parse_number(b);
}

/// Whether a workpackage has all of these values, as far as it has such parameters.
/// @param all a parameter that it lacks counts as another value
bool stands_on(const Workpackage& workpackage, const Parameters& point, bool all) {
  return std::ranges::all_of(point, [&](const auto& assignment) {
    const std::string* value = value_of(workpackage.parameters, assignment.first);
    return value ? is_same_value(*value, assignment.second) : !all;
  });
}

/// `1, 2, 4, ... (12)`
std::string values_text(const std::vector<std::string>& values) {
  constexpr std::size_t most = 10;
  if (values.size() <= most)
    return join(values, ", ");
  return fmt::format("{}, ... ({} in all)", join(std::span(values).first(most), ", "),
                     values.size());
}

/// Looks for a point in one step, and for what keeps it from being there.
class Search {
 public:
  Search(const space::Run& run, const RunView& view, const model::Step& step,
         const Parameters& point)
      : run_(run), view_(view), step_(step), point_(point) {
    for (const Workpackage& workpackage : view.all())
      if (workpackage.step == step.name)
        members_.push_back(&workpackage);
  }

  /// @param without earlier steps in which there is no workpackage either
  PointInStep result(const std::set<std::string>& without) {
    PointInStep result{.step = step_.name, .workpackages = {}, .absence = {}};
    for (const Workpackage* member : members_)
      if (stands_on(*member, point_, true))
        result.workpackages.push_back(member->id);
    if (result.workpackages.empty()) {
      if (!say_absent_step(without) && !say_unknown_values() && !say_parents())
        say_combination();
      result.absence = std::move(absence_);
    }
    return result;
  }

 private:
  void say(std::string about, std::string text) {
    absence_.push_back({std::move(about), std::move(text)});
  }

  const model::Parameter* definition(const std::string& name) const {
    return space::definition_of(run_.benchmark, step_, name);
  }

  bool is_parent(const Workpackage& workpackage) const {
    return step_.depends_on(workpackage.step);
  }

  /// Those that the file lists and those that workpackages have, in this order, each once.
  /// @param others only of workpackages that have these values; without, also of the parents
  std::vector<std::string> known_values(const std::string& name, const Parameters& others) const {
    std::vector<std::string> values;
    const auto add = [&](const std::string& value) {
      if (std::ranges::find(values, value) == values.end())
        values.push_back(value);
    };
    const model::Parameter* parameter = definition(name);
    if (others.empty() && parameter && is_listed(*parameter))
      std::ranges::for_each(model::written_values(*parameter), add);
    for (const Workpackage& one : view_.all()) {
      const bool counts = one.step == step_.name || (others.empty() && is_parent(one));
      const std::string* value = counts ? value_of(one.parameters, name) : nullptr;
      if (value && stands_on(one, others, true))
        add(*value);
    }
    return values;
  }

  /// Whether the file says all values that the parameter can have.
  static bool is_listed(const model::Parameter& parameter) {
    const std::vector<std::string> values = model::written_values(parameter);
    return !values.empty() && std::ranges::all_of(values, [](const std::string& value) {
      return value.find('$') == std::string::npos;
    });
  }

  /// @returns whether there is nothing that it could be made for
  bool say_absent_step(const std::set<std::string>& without) {
    const auto absent = std::ranges::find_if(
        step_.depend, [&](const std::string& name) { return without.contains(name); });
    if (absent != step_.depend.end())
      say("waits for", fmt::format("a workpackage of step {}, which does not exist", *absent));
    return absent != step_.depend.end();
  }

  std::string by_tag(const std::string& name, const std::string& value) const {
    const std::vector<std::string> tags = tags_giving(run_, name, value);
    return tags.empty() ? "" : fmt::format("; with the tag {} it has", join(tags, ", or "));
  }

  /// @returns whether a parameter never has the value
  bool say_unknown_values() {
    bool unknown = false;
    for (const auto& [name, value] : point_) {
      const std::vector<std::string> values = known_values(name, {});
      const bool known = std::ranges::any_of(
          values, [&wanted = value](const std::string& one) { return is_same_value(one, wanted); });
      // What a script gives is known only of those that were made.
      if (known || (members_.empty() && !is_listed(*definition(name))))
        continue;
      unknown = true;
      say(name, fmt::format("has no value {}; it has {}{}", value, values_text(values),
                            by_tag(name, value)));
    }
    const std::string& tags = run_.metadata.tags;
    if (unknown)
      say("tags", fmt::format("{}; `bench check {}` shows what each tag selects",
                              tags.empty() ? "none is active" : tags + " are active",
                              run_.metadata.input_file));
    return unknown;
  }

  /// @returns whether a workpackage that it needs is not done
  bool say_parents() {
    constexpr std::size_t most = 5;
    std::vector<std::string> texts;
    for (const Workpackage& parent : view_.all())
      if (is_parent(parent) && !parent.expanded && stands_on(parent, point_, false))
        texts.push_back(fmt::format("workpackage {} ({}), {}{}", parent.id, parent.step,
                                    workspace::name_of(parent.state),
                                    parent.reason.empty() ? "" : ": " + parent.reason));
    if (texts.empty())
      return false;
    const std::size_t count = texts.size();
    if (count > most) {
      texts.resize(most);
      texts.push_back(fmt::format("and {} more", count - most));
    }
    say("needs", join(texts, "\n"));
    return true;
  }

  /// Each value exists, and not together.
  void say_combination() {
    for (const auto& [name, value] : point_) {
      Parameters others = point_;
      std::erase_if(others, [&left_out = name](const auto& one) { return one.first == left_out; });
      if (const auto values = known_values(name, others); !others.empty() && !values.empty())
        say(name, fmt::format("is {} with {}", values_text(values), text_of(others)));
    }
    if (absence_.empty() && members_.empty())
      say("step", "it has no workpackages");
    else if (absence_.empty())
      say("values", "each value exists, but no workpackage has all of them");
    say_filter("where", step_.where);
    if (step_.active != "true")
      say_filter("active", step_.active);
  }

  void say_filter(const char* name, const std::string& expression) {
    if (expression.empty())
      return;
    const std::string here = evaluate::substitute(expression, space::lookup_in(point_));
    say(fmt::format("`{}`", name),
        fmt::format("keeps only {}{}", expression, here == expression ? "" : ", here: " + here));
  }

  static std::string text_of(const Parameters& point) {
    std::vector<std::string> texts;
    for (const auto& [name, value] : point)
      texts.push_back(fmt::format("{}={}", name, value));
    return join(texts, " ");
  }

  const space::Run& run_;
  const RunView& view_;
  const model::Step& step_;
  const Parameters& point_;
  std::vector<const Workpackage*> members_;
  std::vector<Remark> absence_;
};

/// @throws Error for a parameter that the benchmark lacks, or that no step has
[[noreturn]] void refuse(const space::Run& run, const Parameters& point, const std::string& only) {
  std::vector<std::string> known;
  for (const model::ParameterSet& set : run.benchmark.parameter_sets)
    for (const model::Parameter& parameter : set.parameters)
      known.push_back(parameter.name);
  for (const auto& [name, value] : point)
    if (std::ranges::find(known, name) == known.end()) {
      const std::vector<std::string> tags = tags_giving(run, name, std::nullopt);
      throw Error(Id::unknown_name, fmt::format("the benchmark has no parameter '{}'", name),
                  tags.empty() ? suggestion(name, known, "its parameters: ")
                               : fmt::format("it has with the tag {}", join(tags, ", or ")));
    }
  throw Error(Id::unknown_name,
              only.empty() ? "no step has all these parameters"
                           : fmt::format("step '{}' does not have all these parameters", only),
              "`bench info -s -p` shows the parameters of each step");
}

/// The file itself, tags and all, if it is the whole input and still what the run was made from.
std::optional<Node> untagged_input(const space::Run& run) {
  const std::filesystem::path file = run.metadata.input_file;
  if (space::input_state(run) != space::InputState::unchanged)
    return std::nullopt;
  if (read_file(file).find("include") != std::string::npos)
    return std::nullopt;
  Diagnostics seen_at_the_start;
  return document::read_file(file, seen_at_the_start);
}

std::vector<std::string> values_of(const Node& parameter) {
  std::vector<std::string> values;
  for (const Node* value : parameter.all("value"))
    values.emplace_back(strip(value->text));
  return values.empty() ? split_values(parameter.text, parameter.value("separator")) : values;
}

class TagSearch {
 public:
  TagSearch(const std::string& parameter, const std::optional<std::string>& value)
      : parameter_(parameter), value_(value) {}

  /// @param conditions of the elements around this one
  void visit(const Node& node, std::vector<std::string> conditions) {
    if (const document::Attribute* tag = node.find("tag"))
      conditions.push_back(tag->value);
    if (!conditions.empty() && gives(node))
      if (std::string all = join(conditions, " + "); std::ranges::find(found, all) == found.end())
        found.push_back(std::move(all));
    for (const Node& child : node.children)
      visit(child, conditions);
  }

  std::vector<std::string> found;

 private:
  bool gives(const Node& node) const {
    if (node.name != "parameter" || strip(node.get("name")) != parameter_)
      return false;
    const std::vector<std::string> values = values_of(node);
    return !value_ || std::ranges::find(values, *value_) != values.end();
  }

  const std::string& parameter_;
  const std::optional<std::string>& value_;
};

}  // namespace

std::vector<PointInStep> find_point(const space::Run& run, const RunView& view,
                                    const Parameters& point, const std::string& only) {
  std::vector<PointInStep> found;
  std::set<std::string> without;
  for (const model::Step& step : run.benchmark.steps) {
    const bool has_all = std::ranges::all_of(point, [&](const auto& assignment) {
      return space::definition_of(run.benchmark, step, assignment.first) != nullptr;
    });
    if (!has_all || (!only.empty() && only != step.name))
      continue;
    found.push_back(Search(run, view, step, point).result(without));
    if (found.back().workpackages.empty())
      without.insert(step.name);
  }
  if (found.empty())
    refuse(run, point, only);
  return found;
}

std::vector<std::string> tags_giving(const space::Run& run, const std::string& parameter,
                                     const std::optional<std::string>& value) {
  const std::optional<Node> root = untagged_input(run);
  if (!root)
    return {};
  TagSearch search(parameter, value);
  search.visit(*root, {});
  return std::move(search.found);
}

}  // namespace bench::insight
