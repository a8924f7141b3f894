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
    // What NVML calls a module holds the GPU and more, but its GPU channel has the counter.
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
};

bool never_added(Scope scope) {
  return scope == Scope::gpu_average || scope == Scope::core || scope == Scope::uncore ||
         scope == Scope::platform || scope == Scope::other;
}

const Channel* covering(const Channel& channel, std::span<const Channel> channels) {
  for (const Cover& cover : covers) {
    if (cover.inner != channel.scope)
      continue;
    for (const Channel& other : channels)
      if (other.scope == cover.outer && (!cover.same_device || other.device == channel.device))
        return &other;
  }
  return nullptr;
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

void mark_additive(std::span<Channel> channels) {
  for (Channel& channel : channels) {
    const Channel* outer = covering(channel, channels);
    if (!outer)
      outer = same_device_before(channel, channels);
    channel.parent = outer ? outer->name : "";
    channel.additive = !outer && !never_added(channel.scope);
  }
}

}  // namespace bench::energy
