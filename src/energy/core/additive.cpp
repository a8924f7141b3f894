#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include <bench/energy/core/additive.hpp>
#include <bench/energy/core/channel.hpp>

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
