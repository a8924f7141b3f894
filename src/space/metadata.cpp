#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/space/metadata.hpp>

namespace bench::space {
namespace {

using Text = std::string RunMetadata::*;
using MaybeText = std::optional<std::string> RunMetadata::*;
using MaybeInteger = std::optional<long long> RunMetadata::*;
using MaybeNumber = std::optional<double> RunMetadata::*;

/// A fact of the workspace and the member that holds it.
struct Fact {
  const char* name;
  std::variant<Text, MaybeText, MaybeInteger, MaybeNumber> member;
};

constexpr std::array typed_facts{
    Fact{"id", &RunMetadata::id},
    Fact{"uuid", &RunMetadata::uuid},
    Fact{"benchmark", &RunMetadata::benchmark},
    Fact{"comment", &RunMetadata::comment},
    Fact{"document", &RunMetadata::document},
    Fact{"started", &RunMetadata::started},
    Fact{"started_unix_s", &RunMetadata::started_unix_s},
    Fact{"home", &RunMetadata::home},
    Fact{"tags", &RunMetadata::tags},
    Fact{"accepted", &RunMetadata::accepted},
    Fact{"confirms", &RunMetadata::confirms},
    Fact{"input_file", &RunMetadata::input_file},
    Fact{"input_sha256", &RunMetadata::input_sha256},
    Fact{"platform", &RunMetadata::platform},
    Fact{"platform_file", &RunMetadata::platform_file},
    Fact{"power_source", &RunMetadata::power_source},
    Fact{"bench_version", &RunMetadata::bench_version},
    Fact{"jube_version", &RunMetadata::jube_version},
    Fact{"partition", &RunMetadata::partition},
    Fact{"account", &RunMetadata::account},
    Fact{"qos", &RunMetadata::qos},
    Fact{"reservation", &RunMetadata::reservation},
    Fact{"launcher", &RunMetadata::launcher},
    Fact{"max_workpackages", &RunMetadata::max_workpackages},
    Fact{"parallel", &RunMetadata::parallel},
    Fact{"order_seed", &RunMetadata::order_seed},
    Fact{"budget_nh", &RunMetadata::budget_node_hours},
    Fact{"chained", &RunMetadata::chained},
};

constexpr std::string_view platform_prefix = "jube_platform_";

struct Reader {
  RunMetadata& metadata;
  const std::string& value;
  void operator()(Text member) const { metadata.*member = value; }
  void operator()(MaybeText member) const { metadata.*member = value; }
  void operator()(MaybeInteger member) const { metadata.*member = parse_integer(value); }
  void operator()(MaybeNumber member) const { metadata.*member = parse_number(value); }
};

/// The text of a member; none where it is absent.
struct Writer {
  const RunMetadata& metadata;
  std::optional<std::string> operator()(Text member) const { return metadata.*member; }
  std::optional<std::string> operator()(MaybeText member) const { return metadata.*member; }
  std::optional<std::string> operator()(MaybeInteger member) const {
    const auto& value = metadata.*member;
    return value ? std::optional(std::to_string(*value)) : std::nullopt;
  }
  std::optional<std::string> operator()(MaybeNumber member) const {
    const auto& value = metadata.*member;
    return value ? std::optional(python_float(*value)) : std::nullopt;
  }
};

}  // namespace

RunMetadata metadata_from(const std::map<std::string, std::string>& facts) {
  RunMetadata metadata;
  for (const auto& [name, value] : facts) {
    const auto typed = std::ranges::find_if(
        typed_facts, [&known = name](const Fact& fact) { return fact.name == known; });
    if (typed != typed_facts.end())
      std::visit(Reader{metadata, value}, typed->member);
    else if (name.starts_with(platform_prefix))
      metadata.platform_variables[name] = value;
    else
      metadata.provenance[name] = value;
  }
  return metadata;
}

std::map<std::string, std::string> facts_of(const RunMetadata& metadata) {
  std::map<std::string, std::string> facts = metadata.provenance;
  facts.insert(metadata.platform_variables.begin(), metadata.platform_variables.end());
  for (const Fact& fact : typed_facts)
    if (auto value = std::visit(Writer{metadata}, fact.member))
      facts[fact.name] = std::move(*value);
  return facts;
}

std::map<std::string, std::string> shown_facts(const RunMetadata& metadata) {
  auto facts = facts_of(metadata);
  facts["started"] = start_for_people(metadata);
  if (const auto accepted_unix_s = parse_local_time(metadata.accepted))
    facts["accepted"] = local_time_at(*accepted_unix_s);
  return facts;
}

std::string start_for_people(const RunMetadata& metadata) {
  return metadata.started_unix_s ? local_time_at(*metadata.started_unix_s) : metadata.started;
}

std::string start_in_utc(const RunMetadata& metadata) {
  constexpr std::size_t date_and_time = 19;
  return metadata.started_unix_s
             ? replace_all(start_for_programs(metadata).substr(0, date_and_time), "T", " ") + " UTC"
             : metadata.started;
}

std::string start_for_programs(const RunMetadata& metadata) {
  return metadata.started_unix_s ? utc_time_at(*metadata.started_unix_s) : metadata.started;
}

}  // namespace bench::space
