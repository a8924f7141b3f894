#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/energy/core/channel.hpp>

namespace bench::energy {
namespace {

/// One scope that directly includes another.
struct Parent {
  Scope scope = Scope::other;  ///< `other`: none.
  bool same_device = false;    ///< Only the one with the same number.
  bool alone = false;          ///< What includes the parent need not include the child.
};

struct Row {
  Scope scope;
  std::string_view name;
  std::array<Parent, 2> parents;
  bool added = true;
  bool device = false;
  std::string_view unique_name = name;
};

constexpr Parent of_same(Scope scope) {
  return {.scope = scope, .same_device = true};
}

/// Inner ones before their parents.
constexpr std::array rows{
    Row{.scope = Scope::core, .name = "core", .parents = {of_same(Scope::package)}, .added = false},
    Row{.scope = Scope::uncore,
        .name = "uncore",
        .parents = {of_same(Scope::package)},
        .added = false},
    Row{.scope = Scope::cpu_model,
        .name = "cpu_model",
        .parents = {Parent{Scope::package}, Parent{Scope::grace}}},
    Row{.scope = Scope::package,
        .name = "package",
        .parents = {Parent{Scope::node}, of_same(Scope::apu)}},
    Row{.scope = Scope::dram, .name = "dram", .parents = {Parent{Scope::node}}},
    Row{.scope = Scope::cpu_rail, .name = "cpu", .parents = {of_same(Scope::grace)}},
    Row{.scope = Scope::soc_rail, .name = "sysio", .parents = {of_same(Scope::grace)}},
    Row{.scope = Scope::grace, .name = "grace", .parents = {of_same(Scope::module)}},
    Row{.scope = Scope::gpu_model,
        .name = "gpu_model",
        .parents = {of_same(Scope::gpu), of_same(Scope::gpu_module)},
        .device = true},
    Row{.scope = Scope::gpu_average,
        .name = "gpu_average",
        .parents = {of_same(Scope::gpu)},
        .added = false,
        .device = true},
    Row{.scope = Scope::gpu, .name = "gpu", .parents = {Parent{Scope::module}}, .device = true},
    Row{.scope = Scope::apu, .name = "apu", .parents = {Parent{Scope::node}}, .device = true},
    // What NVML calls a module holds the GPU and more; what it adds is not known on every board.
    Row{.scope = Scope::gpu_module,
        .name = "module",
        .parents = {of_same(Scope::gpu)},
        .unique_name = "gpu_module"},
    Row{.scope = Scope::module, .name = "module", .parents = {Parent{Scope::node}}},
    // A card sits in the node; an IPU without one in its own IPU-Machine.
    Row{.scope = Scope::ipu,
        .name = "ipu",
        .parents = {Parent{.scope = Scope::board, .same_device = true, .alone = true}},
        .device = true},
    Row{.scope = Scope::board, .name = "board", .parents = {Parent{Scope::node}}},
    Row{.scope = Scope::node_part,
        .name = "node_part",
        .parents = {Parent{Scope::node}},
        .added = false},
    Row{.scope = Scope::node, .name = "node"},
    Row{.scope = Scope::node_meter, .name = "node_meter"},
    Row{.scope = Scope::node_model, .name = "node_model"},
    Row{.scope = Scope::platform, .name = "platform", .added = false},
    Row{.scope = Scope::mock, .name = "mock"},
    Row{.scope = Scope::other, .name = "other", .added = false},
};

constexpr auto scopes = [] {
  std::array<Scope, rows.size()> all{};
  std::ranges::transform(rows, all.begin(), &Row::scope);
  return all;
}();

const Row& row_of(Scope scope) {
  return *std::ranges::find(rows, scope, &Row::scope);
}

}  // namespace

Inclusion inclusion(Scope outer, Scope inner) {
  Inclusion found = Inclusion::none;
  for (const Parent& parent : row_of(inner).parents) {
    Inclusion by_parent = Inclusion::none;
    if (parent.scope == outer && outer != Scope::other)
      by_parent = Inclusion::same_device;
    else if (parent.scope != Scope::other && !parent.alone)
      by_parent = inclusion(outer, parent.scope);
    if (by_parent != Inclusion::none && !parent.same_device)
      by_parent = Inclusion::any_device;
    found = std::max(found, by_parent);
  }
  return found;
}

std::span<const Scope> all_scopes() {
  return scopes;
}

bool may_be_added(Scope scope) {
  return row_of(scope).added;
}

bool is_device(Scope scope) {
  return row_of(scope).device;
}

std::string_view name_of(Scope scope) {
  return row_of(scope).name;
}

std::string_view unique_name_of(Scope scope) {
  return row_of(scope).unique_name;
}

std::optional<Scope> scope_of(std::string_view unique_name) {
  const auto found = std::ranges::find(rows, unique_name, &Row::unique_name);
  return found == rows.end() ? std::nullopt : std::optional(found->scope);
}

std::string_view source_of(const Channel& channel) {
  return std::string_view(channel.name).substr(0, channel.name.find(':'));
}

bool is_own_device(const Channel& channel) {
  constexpr std::array scopes{Scope::gpu, Scope::apu, Scope::gpu_model, Scope::ipu};
  return !channel.shared && !channel.duplicate &&
         std::ranges::find(scopes, channel.scope) != scopes.end();
}

std::string as_identifier(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  return result;
}

std::vector<std::string> distinct_identifiers(std::span<const std::string> texts) {
  std::vector<std::string> result;
  for (const std::string& text : texts)
    result.push_back(as_identifier(text));
  std::set<std::string> taken(result.begin(), result.end());
  std::map<std::string, int> uses;
  for (std::string& identifier : result) {
    int& number = uses[identifier];
    if (++number == 1)
      continue;
    std::string numbered = fmt::format("{}_{}", identifier, number);
    while (!taken.insert(numbered).second)
      numbered = fmt::format("{}_{}", identifier, ++number);
    identifier = std::move(numbered);
  }
  return result;
}

namespace {

/// A prefix of the labels that Grace firmware gives its meters: `Grace Power Socket 0`.
struct GraceLabel {
  std::string_view prefix;
  Scope scope;
};
constexpr std::array grace_labels{
    GraceLabel{"Module Power", Scope::module},
    GraceLabel{"Total Power", Scope::module},
    GraceLabel{"Grace Power", Scope::grace},
    GraceLabel{"CPU Power", Scope::cpu_rail},
    GraceLabel{"CPU Rail Input Power", Scope::cpu_rail},
    GraceLabel{"SysIO Power", Scope::soc_rail},
    GraceLabel{"SoC Rail", Scope::soc_rail},
};

}  // namespace

int socket_of(const std::string& label) {
  int socket = -1;
  const auto at = label.rfind("Socket ");
  if (at != std::string::npos)
    std::from_chars(label.data() + at + 7, label.data() + label.size(), socket);
  return socket;
}

std::optional<Scope> scope_of_label(const std::string& label) {
  for (const GraceLabel& known : grace_labels)
    if (label.starts_with(known.prefix) && socket_of(label) >= 0)
      return known.scope;
  return std::nullopt;
}

namespace {

/// What measures the whole node, the finest first.
constexpr std::array node_scopes{Scope::node, Scope::node_meter, Scope::node_model};

/// The place in `node_scopes`, or its end.
std::size_t node_rank(Scope scope) {
  return static_cast<std::size_t>(std::ranges::find(node_scopes, scope) - node_scopes.begin());
}

bool measures_node(Scope scope) {
  return node_rank(scope) < node_scopes.size();
}

bool is_readable(const Channel& channel) {
  return channel.unreadable.empty();
}

/// Whether `a` goes before `b` where both measure the whole node: only the first of them counts. A
/// source that has several meters in the node has them for different supplies.
bool goes_before(const Channel& a, const Channel& b) {
  if (is_readable(a) != is_readable(b))
    return is_readable(a);
  if (node_rank(a.scope) != node_rank(b.scope))
    return node_rank(a.scope) < node_rank(b.scope);
  return &a < &b && (a.scope != Scope::node || source_of(a) != source_of(b));
}

bool is_owned(Scope scope, Owned owned) {
  return owned == Owned::all || (owned == Owned::devices && is_device(scope));
}

const Channel* better_node_meter(const Channel& channel, std::span<const Channel> channels) {
  if (measures_node(channel.scope))
    for (const Channel& other : channels)
      if (measures_node(other.scope) && goes_before(other, channel))
        return &other;
  return nullptr;
}

/// True if its source reads nothing of this kind. Otherwise the sum of the kind has a hole there.
bool has_no_readable_peer(const Channel& channel, std::span<const Channel> channels) {
  return !is_readable(channel) && std::ranges::none_of(channels, [&](const Channel& other) {
    return is_readable(other) && other.scope == channel.scope &&
           source_of(other) == source_of(channel);
  });
}

bool counts_as(Scope scope, Scope outer) {
  return scope == outer || (outer == Scope::node && measures_node(scope));
}

/// The innermost of the channels that count what this one measures.
const Channel* covering(const Channel& channel, std::span<const Channel> channels) {
  for (const Scope outer : all_scopes()) {
    const Inclusion included = inclusion(outer, channel.scope);
    if (included == Inclusion::none)
      continue;
    for (const Channel& other : channels)
      if (!other.shared && counts_as(other.scope, outer) &&
          (included == Inclusion::any_device || other.device == channel.device) &&
          !has_no_readable_peer(other, channels))
        return &other;
  }
  return better_node_meter(channel, channels);
}

/// Two estimates of one device.
bool model_the_same(const Channel& a, const Channel& b) {
  return (a.scope == Scope::cpu_model || a.scope == Scope::gpu_model) && a.scope == b.scope &&
         a.device == b.device;
}

bool measure_the_same(const Channel& a, const Channel& b) {
  return model_the_same(a, b) || a.mirror_of == b.name ||
         std::ranges::find_first_of(a.pci_addresses, b.pci_addresses) != a.pci_addresses.end();
}

/// The first channel that measures one of the same devices, if that is another one. Readable
/// channels go before the others.
const Channel* same_device_before(const Channel& channel, std::span<const Channel> channels) {
  for (const Channel& other : channels) {
    const bool before =
        is_readable(other) == is_readable(channel) ? &other < &channel : is_readable(other);
    if (before && measure_the_same(channel, other))
      return &other;
  }
  return nullptr;
}

/// True if a part of it can be read, and is added in its place.
bool is_replaced_by_parts(const Channel& channel, std::span<const Channel> channels) {
  return has_no_readable_peer(channel, channels) &&
         std::ranges::any_of(channels, [&](const Channel& part) {
           const Inclusion included = inclusion(channel.scope, part.scope);
           return is_readable(part) && !part.shared &&
                  (included == Inclusion::any_device ||
                   (included == Inclusion::same_device && part.device == channel.device));
         });
}

}  // namespace

void mark_additive(std::span<Channel> channels, Owned owned) {
  for (Channel& channel : channels)
    channel.shared = channel.partly_owned || !is_owned(channel.scope, owned);
  for (Channel& channel : channels) {
    channel.parent.clear();
    channel.additive = channel.duplicate = false;
    if (channel.shared)
      continue;
    const Channel* outer = covering(channel, channels);
    const Channel* same = same_device_before(channel, channels);
    channel.duplicate = same || (outer && is_device(outer->scope));
    if (!outer)
      outer = same;
    channel.parent = outer ? outer->name : "";
    channel.additive =
        !outer && may_be_added(channel.scope) && !is_replaced_by_parts(channel, channels);
  }
}

}  // namespace bench::energy
