#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/core/scope.hpp>
#include <bench/energy/sources/amd_devices.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {
namespace {

/// GPUs of two dies with one meter.
constexpr std::array two_die_products{0x7408U, 0x740cU};
/// MI300A. Source: pci.ids, 1002:74a0.
constexpr unsigned apu_product = 0x74a0;
constexpr int first_apu_metrics = 2;

std::optional<std::string> variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

/// The number in a line like `0x740c` or `5d6c...`.
std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  if (text.starts_with("0x"))
    text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

/// The GPU of one node of the compute driver.
struct ComputeNode {
  bool readable = false;
  std::uint64_t cpu_cores = 0;
  std::uint64_t simd_count = 0;  ///< 0 is a CPU.
  std::uint64_t location = 0;
  std::uint64_t domain = 0;
};

ComputeNode compute_node(const std::filesystem::path& directory) {
  ComputeNode node;
  std::istringstream properties(kernel_text(directory / "properties"));
  std::string key;
  for (std::uint64_t value = 0; properties >> key >> value;) {
    node.readable = true;
    if (key == "cpu_cores_count")
      node.cpu_cores = value;
    else if (key == "simd_count")
      node.simd_count = value;
    else if (key == "location_id")
      node.location = value;
    else if (key == "domain")
      node.domain = value;
  }
  return node;
}

std::vector<ComputeNode> compute_nodes(const std::filesystem::path& sysfs) {
  std::vector<ComputeNode> nodes;
  for (const auto& directory : entries(sysfs / "class/kfd/kfd/topology/nodes", ""))
    nodes.push_back(compute_node(directory));
  return nodes;
}

std::string address_of(const ComputeNode& node) {
  return pci_address_of(node.domain << 32U | node.location);
}

/// `card1`, but not its connectors, `card1-DP-1`.
bool is_card(const std::filesystem::path& entry) {
  const std::string name = entry.filename().string();
  return name.size() > 4 &&
         std::all_of(name.begin() + 4, name.end(), [](unsigned char c) { return std::isdigit(c); });
}

bool has_table_of_apu(const std::filesystem::path& device) {
  const std::string table = kernel_text(device / "gpu_metrics");
  return table.size() >= 4 && table[2] >= first_apu_metrics;
}

/// Of the first CPU near the device; 0 where the kernel does not say.
int package_near(const std::filesystem::path& device, const std::filesystem::path& sysfs) {
  const std::string cpus = first_line(device / "local_cpulist");
  const std::string cpu = "cpu" + cpus.substr(0, cpus.find_first_of(",-"));
  return static_cast<int>(
      parse_integer(first_line(sysfs / "devices/system/cpu" / cpu / "topology/physical_package_id"))
          .value_or(0));
}

/// The place of `name`, a number or `GPU-<unique id>`, in `order`; its size where there is none.
std::size_t place_of(const std::string& name, std::span<const std::size_t> order,
                     std::span<const AmdDevice> devices) {
  if (const auto number = parse_integer(name))
    return *number < 0 ? order.size() : std::min(static_cast<std::size_t>(*number), order.size());
  const auto id = name.starts_with("GPU-") ? hexadecimal(name.substr(4)) : std::nullopt;
  return static_cast<std::size_t>(
      std::ranges::find_if(order, [&](std::size_t i) { return id && devices[i].unique_id == id; }) -
      order.begin());
}

/// Lists end at the first entry that names no device.
std::vector<std::size_t> selected(const std::string& list, const std::vector<std::size_t>& order,
                                  std::span<const AmdDevice> devices) {
  std::vector<std::size_t> result;
  for (const std::string& name : split_names(list)) {
    const std::size_t place = place_of(name, order, devices);
    if (place == order.size())
      break;
    result.push_back(order[place]);
  }
  return result;
}

std::vector<std::size_t> by_address(std::span<const AmdDevice> devices) {
  std::vector<std::size_t> order(devices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return devices[a].pci_address < devices[b].pci_address;
  });
  return order;
}

std::vector<std::size_t> in_compute_order(const AmdVisibility& visibility,
                                          std::span<const AmdDevice> devices) {
  std::vector<std::size_t> order;
  const std::vector<std::size_t> sorted = by_address(devices);
  for (const std::string& address : visibility.compute_order)
    for (const std::size_t i : sorted)
      if (devices[i].pci_address == address)
        order.push_back(i);
  if (!visibility.restricted)
    for (const std::size_t i : sorted)
      if (std::ranges::count(order, i) == 0)
        order.push_back(i);
  return order;
}

bool is_second_die(const AmdDevice& first, const AmdDevice& second) {
  return second.silent && !first.silent && first.product == second.product &&
         is_of_two_dies(second.product);
}

/// Devices that share a meter; the first one shows it.
struct AmdPackage {
  std::vector<std::size_t> devices;
  std::vector<std::string> numbers;
};

std::vector<AmdPackage> packages_of(std::span<const AmdDevice> devices) {
  std::vector<AmdPackage> packages;
  std::size_t number = 0;
  std::string last_address;
  for (const std::size_t i : by_address(devices)) {
    const AmdDevice& device = devices[i];
    const bool partition = !packages.empty() && device.pci_address == last_address;
    last_address = device.pci_address;
    if (partition) {
      packages.back().devices.push_back(i);
      continue;
    }
    const bool second_die = !packages.empty() && packages.back().numbers.size() == 1 &&
                            is_second_die(devices[packages.back().devices[0]], device);
    if (!second_die)
      packages.emplace_back();
    packages.back().devices.push_back(i);
    packages.back().numbers.push_back(std::to_string(number++));
  }
  return packages;
}

Channel channel_of(const AmdPackage& package, const std::string& source,
                   std::span<const AmdDevice> devices, const AmdApus& apus) {
  Channel channel;
  channel.scope = Scope::gpu;
  const AmdDevice& meter = devices[package.devices[0]];
  if (const auto apu = apus.find(meter.pci_address); apu != apus.end()) {
    channel.scope = Scope::apu;
    channel.device = apu->second;
  }
  for (const std::size_t i : package.devices)
    if (std::ranges::count(channel.pci_addresses, devices[i].pci_address) == 0)
      channel.pci_addresses.push_back(devices[i].pci_address);
  channel.device_id = join(channel.pci_addresses, "+");
  channel.name =
      fmt::format("{}:{}:{}", source, join(package.numbers, "+"), name_of(channel.scope));
  channel.description = fmt::format("{} {}", meter.name.empty() ? "AMD GPU" : meter.name,
                                    join(channel.pci_addresses, " and "));
  if (meter.unique_id)
    channel.description += fmt::format(" GPU-{:016x}", *meter.unique_id);
  return channel;
}

}  // namespace

bool is_of_two_dies(unsigned product) {
  return std::ranges::count(two_die_products, product) > 0;
}

std::vector<std::filesystem::path> amd_cards(const std::filesystem::path& sysfs) {
  std::vector<std::filesystem::path> cards = entries(sysfs / "class/drm", "card");
  std::erase_if(cards, [](const std::filesystem::path& card) {
    return !is_card(card) || first_line(card / "device/vendor") != amd_vendor;
  });
  return cards;
}

AmdApus amd_apus(const std::filesystem::path& sysfs) {
  std::set<std::string> by_compute_driver;
  for (const ComputeNode& node : compute_nodes(sysfs))
    if (node.cpu_cores > 0 && node.simd_count > 0)
      by_compute_driver.insert(address_of(node));
  AmdApus apus;
  for (const auto& card : amd_cards(sysfs)) {
    const auto directory = card / "device";
    const AmdDevice device = amd_device_of_sysfs(directory);
    if (device.product == apu_product || has_table_of_apu(directory) ||
        by_compute_driver.contains(device.pci_address))
      apus[device.pci_address] = package_near(directory, sysfs);
  }
  return apus;
}

AmdVisibility amd_visibility(const std::filesystem::path& sysfs) {
  AmdVisibility visibility{variable("ROCR_VISIBLE_DEVICES"),
                           variable("HIP_VISIBLE_DEVICES"),
                           variable("CUDA_VISIBLE_DEVICES"),
                           {},
                           false,
                           amd_apus(sysfs)};
  for (const ComputeNode& node : compute_nodes(sysfs)) {
    if (!node.readable)
      visibility.restricted = true;
    else if (node.simd_count > 0)
      visibility.compute_order.push_back(address_of(node));
  }
  return visibility;
}

std::vector<std::size_t> visible_amd_devices(const AmdVisibility& visibility,
                                             std::span<const AmdDevice> devices) {
  std::vector<std::size_t> order = in_compute_order(visibility, devices);
  if (visibility.rocr)
    order = selected(*visibility.rocr, order, devices);
  const std::string hip = visibility.hip.value_or("");
  const std::string list = hip.empty() ? visibility.cuda.value_or("") : hip;
  return list.empty() ? order : selected(list, order, devices);
}

std::set<std::string> visible_amd_addresses(const AmdVisibility& visibility,
                                            const std::filesystem::path& sysfs) {
  std::vector<AmdDevice> devices;
  for (const auto& card : amd_cards(sysfs))
    devices.push_back(amd_device_of_sysfs(card / "device"));
  std::set<std::string> addresses;
  for (const std::size_t i : visible_amd_devices(visibility, devices))
    addresses.insert(devices[i].pci_address);
  return addresses;
}

std::vector<AmdMeter> amd_meters(const std::string& source, std::span<const AmdDevice> devices,
                                 const AmdVisibility& visibility, std::vector<std::string>& notes,
                                 std::vector<Channel>* unreadable) {
  const std::vector<std::size_t> visible = visible_amd_devices(visibility, devices);
  std::vector<AmdMeter> meters;
  for (const AmdPackage& package : packages_of(devices)) {
    const auto is_visible = [&](std::size_t i) { return std::ranges::count(visible, i) > 0; };
    if (std::ranges::none_of(package.devices, is_visible))
      continue;
    Channel channel = channel_of(package, source, devices, visibility.apus);
    channel.partly_owned = std::ranges::count_if(package.devices, is_visible) <
                           static_cast<std::ptrdiff_t>(package.devices.size());
    const std::size_t meter = package.devices[0];
    if (devices[meter].silent) {
      channel.unreadable =
          fmt::format("{} shows neither power nor energy", devices[meter].pci_address);
      notes.push_back(fmt::format("{}: {}", channel.name, channel.unreadable));
      if (!devices[meter].failure.empty())
        channel.unreadable += ": " + devices[meter].failure;
      if (unreadable)
        unreadable->push_back(channel);
    } else {
      meters.push_back({meter, channel});
    }
    if (channel.partly_owned)
      notes.push_back(fmt::format("{}: measures {} together, of which the program has only a part",
                                  channel.name, join(channel.pci_addresses, " and ")));
  }
  if (meters.empty())
    throw Error(!notes.empty()
                    ? notes.front()
                    : fmt::format("the program sees none of {} AMD GPUs", devices.size()));
  return meters;
}

AmdDevice amd_device_of_sysfs(const std::filesystem::path& directory) {
  AmdDevice device;
  device.pci_address = pci_slot_name(directory);
  device.unique_id = hexadecimal(first_line(directory / "unique_id"));
  device.product = static_cast<unsigned>(hexadecimal(first_line(directory / "device")).value_or(0));
  device.name = first_line(directory / "product_name");
  return device;
}

std::string pci_address_of(std::uint64_t bdf_id) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", bdf_id >> 32U, bdf_id >> 8U & 0xffU,
                     bdf_id >> 3U & 0x1fU, bdf_id & 0x7U);
}

}  // namespace bench::energy
