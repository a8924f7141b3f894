#include <algorithm>
#include <array>

#include <bench/energy/additive.hpp>

namespace bench::energy {
namespace {

/// `outer` already counts what `inner` measures.
struct Cover {
  Scope outer;
  Scope inner;
  bool same_device;
};

// Innermost first, since the first match becomes the parent.
constexpr std::array covers{
    Cover{Scope::package, Scope::core, true},
    Cover{Scope::package, Scope::uncore, true},
    Cover{Scope::package, Scope::cpu_model, false},
    Cover{Scope::grace, Scope::cpu_rail, true},
    Cover{Scope::grace, Scope::soc_rail, true},
    Cover{Scope::grace, Scope::cpu_model, false},
    Cover{Scope::gpu, Scope::gpu_average, true},
    // What NVML calls a module holds the GPU and more; what it adds is not known on every board.
    Cover{Scope::gpu, Scope::gpu_module, true},
    Cover{Scope::module, Scope::grace, true},
    Cover{Scope::module, Scope::cpu_rail, true},
    Cover{Scope::module, Scope::soc_rail, true},
    Cover{Scope::module, Scope::gpu, false},
    Cover{Scope::module, Scope::gpu_average, false},
    Cover{Scope::module, Scope::gpu_module, false},
    Cover{Scope::module, Scope::cpu_model, false},
    Cover{Scope::node, Scope::module, false},
    Cover{Scope::node, Scope::grace, false},
    Cover{Scope::node, Scope::cpu_rail, false},
    Cover{Scope::node, Scope::soc_rail, false},
    Cover{Scope::node, Scope::gpu, false},
    Cover{Scope::node, Scope::gpu_average, false},
    Cover{Scope::node, Scope::gpu_module, false},
    Cover{Scope::node, Scope::package, false},
    Cover{Scope::node, Scope::dram, false},
    Cover{Scope::node, Scope::core, false},
    Cover{Scope::node, Scope::uncore, false},
    Cover{Scope::node, Scope::cpu_model, false},
    Cover{Scope::node, Scope::node_part, false},
    Cover{Scope::gpu, Scope::gpu_model, true},
    Cover{Scope::gpu_module, Scope::gpu_model, true},
    Cover{Scope::module, Scope::gpu_model, false},
    Cover{Scope::node, Scope::gpu_model, false},
    Cover{Scope::board, Scope::ipu, true},
    // A card sits in the node; an IPU without one in an IPU-Machine of its own.
    Cover{Scope::node, Scope::board, false},
};

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

/// A GPU or an IPU. A superchip's module has the processor in it, too.
bool is_device(Scope scope) {
  return scope == Scope::gpu || scope == Scope::gpu_average || scope == Scope::gpu_model ||
         scope == Scope::ipu;
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

bool never_added(Scope scope) {
  return scope == Scope::gpu_average || scope == Scope::core || scope == Scope::uncore ||
         scope == Scope::platform || scope == Scope::node_part || scope == Scope::other;
}

const Channel* covering(const Channel& channel, std::span<const Channel> channels) {
  for (const Cover& cover : covers) {
    if (cover.inner != channel.scope)
      continue;
    for (const Channel& other : channels)
      if (!other.shared && counts_as(other.scope, cover.outer) &&
          (!cover.same_device || other.device == channel.device))
        return &other;
  }
  return better_node_meter(channel, channels);
}

/// The first channel that measures one of the same devices, if that is another one.
const Channel* same_device_before(const Channel& channel, std::span<const Channel> channels) {
  for (const Channel& other : channels) {
    if (&other == &channel)
      break;
    if (std::ranges::find_first_of(channel.pci_addresses, other.pci_addresses) !=
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
    channel.additive = false;
    if (channel.shared)
      continue;
    const Channel* outer = covering(channel, channels);
    if (!outer)
      outer = same_device_before(channel, channels);
    channel.parent = outer ? outer->name : "";
    channel.additive = !outer && !never_added(channel.scope);
  }
}

}  // namespace bench::energy
