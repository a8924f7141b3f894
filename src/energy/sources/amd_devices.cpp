#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
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
#include <bench/energy/sources/amd_devices.hpp>
#include <bench/energy/sources/sysfs.hpp>

namespace bench::energy {
namespace {

/// Among the vendors of PCI devices.
constexpr std::string_view number_of_amd = "0x1002";
/// GPUs of two dies with one meter.
constexpr std::array two_die_products{0x7408U, 0x740cU};
/// MI300A. Source: pci.ids, 1002:74a0.
constexpr unsigned apu_product = 0x74a0;
constexpr int first_apu_metrics = 2;

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

bool is_apu(const std::filesystem::path& device, unsigned product) {
  const std::string table = kernel_text(device / "gpu_metrics");
  return product == apu_product || (table.size() >= 4 && table[2] >= first_apu_metrics);
}

/// Of the first CPU near the device; 0 where the kernel does not say.
int package_near(const std::filesystem::path& device, const std::filesystem::path& sysfs) {
  const std::string cpus = first_line(device / "local_cpulist");
  const std::string cpu = "cpu" + cpus.substr(0, cpus.find_first_of(",-"));
  return static_cast<int>(
      parse_integer(first_line(sysfs / "devices/system/cpu" / cpu / "topology/physical_package_id"))
          .value_or(0));
}

/// The devices that a list names by their place in `order` or as `GPU-<unique id>`, up to the first
/// entry that names none.
std::vector<std::size_t> selected(const std::string& list, const std::vector<std::size_t>& order,
                                  std::span<const AmdDevice> devices) {
  std::vector<std::size_t> result;
  for (const std::string& name : split_names(list)) {
    auto found = order.end();
    if (const auto place = parse_integer(name)) {
      if (*place >= 0 && static_cast<std::size_t>(*place) < order.size())
        found = order.begin() + *place;
    } else if (name.starts_with("GPU-")) {
      const auto id = hexadecimal(name.substr(4));
      found = std::ranges::find_if(order,
                                   [&](std::size_t i) { return id && devices[i].unique_id == id; });
    }
    if (found == order.end())
      break;
    result.push_back(*found);
  }
  return result;
}

std::vector<std::size_t> by_address(std::span<const AmdDevice> devices) {
  std::vector<std::size_t> order(devices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return devices[i].pci_address; });
  return order;
}

/// A node of the compute driver counts each time, as every partition of a GPU has its own.
std::vector<std::size_t> in_compute_order(const AmdVisibility& visibility,
                                          std::span<const AmdDevice> devices) {
  std::vector<std::size_t> order;
  const std::vector<std::size_t> sorted = by_address(devices);
  for (const std::string& address : visibility.compute_order)
    std::ranges::copy_if(sorted, std::back_inserter(order),
                         [&](std::size_t i) { return devices[i].pci_address == address; });
  if (!visibility.restricted)
    for (const std::size_t i : sorted)
      if (std::ranges::count(order, i) == 0)
        order.push_back(i);
  return order;
}

/// Devices that share a meter; the first one shows it.
struct AmdPackage {
  std::vector<std::size_t> devices;
  std::vector<std::string> addresses;  ///< One for each of its dies.
  std::string numbers;                 ///< `0+1`
};

std::vector<AmdPackage> packages_of(std::span<const AmdDevice> devices) {
  std::vector<AmdPackage> packages;
  std::size_t number = 0;
  for (const std::size_t i : by_address(devices)) {
    const AmdDevice& device = devices[i];
    const bool is_partition =
        !packages.empty() && packages.back().addresses.back() == device.pci_address;
    if (!is_partition) {
      const AmdDevice* const first =
          packages.empty() ? nullptr : &devices[packages.back().devices[0]];
      const bool is_second_die = first && packages.back().addresses.size() == 1 && device.silent &&
                                 !first->silent && device.product == first->product &&
                                 is_of_two_dies(device.product);
      if (!is_second_die)
        packages.emplace_back();
      packages.back().numbers += fmt::format("{}{}", is_second_die ? "+" : "", number++);
      packages.back().addresses.push_back(device.pci_address);
    }
    packages.back().devices.push_back(i);
  }
  return packages;
}

Channel channel_of(const AmdPackage& package, const std::string& source, const AmdDevice& meter,
                   const AmdApus& apus) {
  Channel channel;
  channel.scope = Scope::gpu;
  if (const auto apu = apus.find(meter.pci_address); apu != apus.end()) {
    channel.scope = Scope::apu;
    channel.device = apu->second;
  }
  channel.pci_addresses = package.addresses;
  channel.device_id = join(package.addresses, "+");
  channel.name = fmt::format("{}:{}:{}", source, package.numbers, name_of(channel.scope));
  channel.description = fmt::format("{} {}", meter.name.empty() ? "AMD GPU" : meter.name,
                                    join(package.addresses, " and "));
  if (meter.unique_id)
    channel.description += fmt::format(" GPU-{:016x}", *meter.unique_id);
  return channel;
}

}  // namespace

bool is_of_two_dies(unsigned product) {
  return std::ranges::count(two_die_products, product) > 0;
}

std::string pci_address_of(std::uint64_t bdf_id) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", bdf_id >> 32U, bdf_id >> 8U & 0xffU,
                     bdf_id >> 3U & 0x1fU, bdf_id & 0x7U);
}

std::vector<std::filesystem::path> amd_cards(const std::filesystem::path& sysfs) {
  std::vector<std::filesystem::path> cards = entries(sysfs / "class/drm", "card");
  std::erase_if(cards, [](const std::filesystem::path& card) {
    const std::string number = card.filename().string().substr(4);  // connectors are `card1-DP-1`
    return number.empty() ||
           !std::ranges::all_of(number, [](unsigned char c) { return std::isdigit(c); }) ||
           first_line(card / "device/vendor") != number_of_amd;
  });
  return cards;
}

std::filesystem::path amd_hwmon(const std::filesystem::path& device) {
  const auto found = entries(device / "hwmon", "hwmon");
  return found.empty() ? std::filesystem::path() : found.front();
}

AmdDevice amd_device_of_sysfs(const std::filesystem::path& directory) {
  AmdDevice device;
  device.pci_address = pci_slot_name(directory);
  device.unique_id = hexadecimal(first_line(directory / "unique_id"));
  device.product = static_cast<unsigned>(hexadecimal(first_line(directory / "device")).value_or(0));
  device.name = first_line(directory / "product_name");
  return device;
}

AmdVisibility amd_visibility(const std::filesystem::path& sysfs) {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
  AmdVisibility visibility;
  visibility.rocr = variable("ROCR_VISIBLE_DEVICES");
  visibility.hip = variable("HIP_VISIBLE_DEVICES");
  visibility.cuda = variable("CUDA_VISIBLE_DEVICES");
  std::set<std::string> apus;
  for (const auto& node : entries(sysfs / "class/kfd/kfd/topology/nodes", "")) {
    std::istringstream lines(kernel_text(node / "properties"));
    std::map<std::string, std::uint64_t> properties;
    std::string key;
    for (std::uint64_t value = 0; lines >> key >> value;)
      properties[key] = value;
    if (properties.empty())
      visibility.restricted = true;
    if (properties["simd_count"] == 0)
      continue;
    const std::string address =
        pci_address_of(properties["domain"] << 32U | properties["location_id"]);
    visibility.compute_order.push_back(address);
    if (properties["cpu_cores_count"] > 0)
      apus.insert(address);
  }
  for (const auto& card : amd_cards(sysfs)) {
    const AmdDevice device = amd_device_of_sysfs(card / "device");
    if (apus.contains(device.pci_address) || is_apu(card / "device", device.product))
      visibility.apus[device.pci_address] = package_near(card / "device", sysfs);
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
    const auto seen = std::ranges::count_if(
        package.devices, [&](std::size_t i) { return std::ranges::count(visible, i) > 0; });
    if (seen == 0)
      continue;
    const AmdDevice& meter = devices[package.devices[0]];
    Channel channel = channel_of(package, source, meter, visibility.apus);
    channel.partly_owned = seen < std::ssize(package.devices);
    if (meter.silent) {
      channel.unreadable = fmt::format("{} shows neither power nor energy", meter.pci_address);
      notes.push_back(fmt::format("{}: {}", channel.name, channel.unreadable));
      if (!meter.failure.empty())
        channel.unreadable += ": " + meter.failure;
      if (unreadable)
        unreadable->push_back(channel);
    } else {
      meters.push_back({package.devices[0], channel});
    }
    if (channel.partly_owned)
      notes.push_back(fmt::format("{}: measures {} together, of which the program has only a part",
                                  channel.name, join(channel.pci_addresses, " and ")));
  }
  if (meters.empty())
    throw Error(Id::no_meter, !notes.empty() ? notes.front()
                                             : fmt::format("the program sees none of {} AMD GPUs",
                                                           devices.size()));
  return meters;
}

}  // namespace bench::energy
