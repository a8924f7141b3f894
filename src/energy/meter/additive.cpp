#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include <bench/energy/meter/additive.hpp>
#include <bench/energy/meter/channel.hpp>
#include <bench/energy/meter/scope.hpp>

namespace bench::energy {
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

/// Whether `a` goes before `b` where both measure the whole node: only the first of them counts. A
/// source that has several meters in the node has them for different supplies.
bool goes_before(const Channel& a, const Channel& b) {
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
          (included == Inclusion::any_device || other.device == channel.device))
        return &other;
  }
  return better_node_meter(channel, channels);
}

/// Two estimates of one device.
bool model_the_same(const Channel& a, const Channel& b) {
  return (a.scope == Scope::cpu_model || a.scope == Scope::gpu_model) && a.scope == b.scope &&
         a.device == b.device;
}

/// The first channel that measures one of the same devices, if that is another one.
const Channel* same_device_before(const Channel& channel, std::span<const Channel> channels) {
  for (const Channel& other : channels) {
    if (&other == &channel)
      break;
    if (model_the_same(channel, other) ||
        std::ranges::find_first_of(channel.pci_addresses, other.pci_addresses) !=
            channel.pci_addresses.end())
      return &other;
  }
  return nullptr;
}

}  // namespace

void mark_additive(std::span<Channel> channels, Owned owned) {
  for (Channel& channel : channels)
    channel.shared = !is_owned(channel.scope, owned);
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
    channel.additive = !outer && may_be_added(channel.scope);
  }
}

}  // namespace bench::energy
