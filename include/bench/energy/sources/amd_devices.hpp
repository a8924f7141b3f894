#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <bench/energy/core/channel.hpp>

namespace bench::energy {

/// One AMD GPU as PCI knows it. Of an MI250 each of the two dies is one.
struct AmdDevice {
  std::string pci_address;                 ///< `0000:c1:00.0`
  std::optional<std::uint64_t> unique_id;  ///< The number in `GPU-<16 hex digits>`.
  unsigned product = 0;                    ///< PCI device id.
  std::string name;                        ///< For people; may be empty.
  bool silent = false;                     ///< Shows neither power nor energy.
  std::string failure = {};                ///< The driver's reason for the silence; may be empty.
};

/// `<sysfs>/class/drm/card<N>` of every AMD GPU.
std::vector<std::filesystem::path> amd_cards(const std::filesystem::path& sysfs);

/// The directory of a card's sensors, by its `device`; empty where it has none.
std::filesystem::path amd_hwmon(const std::filesystem::path& device);

/// What sysfs says of the PCI device in `directory`, but for `silent`.
AmdDevice amd_device_of_sysfs(const std::filesystem::path& directory);

/// The APUs of a node by their PCI addresses: the number of the CPU package in each.
using AmdApus = std::map<std::string, int>;

/// Which AMD GPUs a program sees, and which of all are APUs.
struct AmdVisibility {
  std::optional<std::string> rocr;  ///< ROCR_VISIBLE_DEVICES
  std::optional<std::string> hip;   ///< HIP_VISIBLE_DEVICES
  std::optional<std::string> cuda;  ///< CUDA_VISIBLE_DEVICES
  /// PCI addresses in the order of the compute driver's nodes, by which ROCm counts; empty:
  /// unknown.
  std::vector<std::string> compute_order;
  /// The compute driver keeps some GPU from this process, as the device cgroup of a job does. Then
  /// what is not in `compute_order` is not the job's.
  bool restricted = false;
  /// The power of an APU includes its CPU (Linux, Documentation/gpu/amdgpu, hwmon: power1_average).
  /// It is known by a table `gpu_metrics` of version 2 or later, by the compute driver, whose node
  /// has both CPU cores and SIMDs, or, of an MI300A, which has the table of the MI300X, by its
  /// number.
  AmdApus apus;
};

/// What this process's environment and `<sysfs>/class/kfd/kfd/topology/nodes/*/properties` say.
AmdVisibility amd_visibility(const std::filesystem::path& sysfs);

/// The devices that a program sees, in its order.
///
/// ROCR_VISIBLE_DEVICES selects first, by number or `GPU-<unique id>`, and may select none;
/// HIP_VISIBLE_DEVICES counts what that left, and CUDA_VISIBLE_DEVICES does the same where
/// HIP_VISIBLE_DEVICES is not set or empty. Each list ends at the first entry that is not a device.
/// Sources: ROCm documentation, GPU isolation techniques; HIP environment variables.
std::vector<std::size_t> visible_amd_devices(const AmdVisibility& visibility,
                                             std::span<const AmdDevice> devices);

/// The PCI addresses of the cards in `sysfs` that a program sees.
std::set<std::string> visible_amd_addresses(const AmdVisibility& visibility,
                                            const std::filesystem::path& sysfs);

/// One meter to read, and its channel `<source>:<numbers>:gpu`, of an APU `:apu`; numbers are those
/// in the order of PCI addresses, the same in every source of AMD GPUs.
struct AmdMeter {
  std::size_t device;
  Channel channel;
};

/// The meters behind the GPUs that the program sees.
///
/// An MI250 or MI250X has one meter for both of its dies, which its first die shows while the
/// second is silent: one channel, `<source>:0+1:gpu`, covers both, also if the program sees only
/// one of them, and a note says so. Partitions of one GPU share its address and are one device.
/// Sources: rocm_smi_lib issue 160; PCI ids 7408 and 740c (pci.ids: Aldebaran, MI250 and MI250X).
/// @param notes gets a line for every device that cannot be measured or is shared
/// @param unreadable gets the devices that cannot be measured; may be null
/// @throws bench::Error if there is no meter
std::vector<AmdMeter> amd_meters(const std::string& source, std::span<const AmdDevice> devices,
                                 const AmdVisibility& visibility, std::vector<std::string>& notes,
                                 std::vector<Channel>* unreadable = nullptr);

/// True if a GPU with this PCI device id is one of two dies that share a meter.
bool is_of_two_dies(unsigned product);

/// `0000:c1:00.0` of the number that AMD SMI and the compute driver give: domain in bits 63 to 32,
/// bus in 15 to 8, device in 7 to 3, function in 2 to 0. Bits 31 to 28 hold a partition and are
/// left out.
std::string pci_address_of(std::uint64_t bdf_id);

}  // namespace bench::energy
