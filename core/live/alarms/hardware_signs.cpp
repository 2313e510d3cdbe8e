// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/alarms/hardware_signs.h"

#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <array>

namespace trainyard::watch {

namespace {

using enum HardwareSign::Kind;

struct NamedSign {
    std::string_view end; // of the name
    HardwareSign sign;
};

constexpr const char *kMemoryErrors = "uncorrectable errors of memory";
constexpr const char *kLinkErrors = "errors of NVLink";

constexpr auto kSigns = std::to_array<NamedSign>({
    { "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", { Reasons, RuleId::Throttled } },
    { "DCGM_FI_DEV_CLOCKS_EVENT_REASONS", { Reasons, RuleId::Throttled } },
    { "gpu_violation_processor_hot_residency_percentage", { Share, RuleId::Throttled, "heat (processor hot)" } },
    { "gpu_violation_socket_thermal_residency_percentage", { Share, RuleId::Throttled, "heat of the socket" } },
    { "gpu_violation_vr_thermal_residency_percentage", { Share, RuleId::Throttled, "heat of the voltage regulators" } },
    { "gpu_violation_hbm_thermal_residency_percentage", { Share, RuleId::Throttled, "heat of its memory" } },
    { "gpu_violation_gfx_clock_below_host_limit_thermal_percentage", { Share, RuleId::Throttled, "heat" } },
    { "DCGM_FI_DEV_MEMORY_TEMP", { Heat, RuleId::MemoryTemperature } },
    { "gpu_memory_temperature", { Heat, RuleId::MemoryTemperature } },
    { "DCGM_FI_DEV_XID_ERRORS", { Number, RuleId::Xid, "XID" } },
    { "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", { Counter, RuleId::Ecc, kMemoryErrors } },
    { "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", { Counter, RuleId::Ecc, kMemoryErrors } },
    { "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", { Counter, RuleId::Ecc, kMemoryErrors } },
    { "gpu_ecc_uncorrect_total", { Counter, RuleId::Ecc, kMemoryErrors } },
    { "gpu_ecc_uncorrect_xgmi_wafl", { Counter, RuleId::NvLink, "uncorrectable errors of xGMI" } },
    { "DCGM_FI_DEV_NVLINK_COUNT_RX_ERRORS", { Counter, RuleId::NvLink, kLinkErrors } },
    { "DCGM_FI_DEV_NVLINK_COUNT_RX_REMOTE_ERRORS", { Counter, RuleId::NvLink, kLinkErrors } },
    { "DCGM_FI_DEV_NVLINK_COUNT_RX_MALFORMED_PACKET_ERRORS", { Counter, RuleId::NvLink, kLinkErrors } },
    { "DCGM_FI_DEV_NVLINK_COUNT_LOCAL_LINK_INTEGRITY_ERRORS", { Counter, RuleId::NvLink, kLinkErrors } },
    { "DCGM_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS",
        { Counter, RuleId::NvLink, "links of NVLink that did not recover" } },
    { "DCGM_FI_DEV_NVSWITCH_FATAL_ERRORS", { Number, RuleId::NvLink, "SXID" } },
    { "DCGM_FI_DEV_ROW_REMAP_FAILURE",
        { BadFlag, RuleId::Health, "tells that a row of its memory could not be remapped" } },
    { "gpu_health", { GoodFlag, RuleId::Health, "is unhealthy by its exporter" } },
});

/// Reasons for a low clock that NVML tells, those that are a fault of cooling or of power.
struct ThrottleReason {
    std::uint64_t bit;
    const char *what;
};
constexpr std::array<ThrottleReason, 4> kThrottleReasons { { { 0x40, "heat (hardware slowdown)" },
    { 0x20, "heat (software slowdown)" }, { 0x80, "the power brake" }, { 0x08, "a hardware slowdown" } } };

/// NVIDIA's numbers of errors that end or endanger a job.
struct Xid {
    int number;
    const char *what;
};
constexpr std::array<Xid, 12> kXids { { { 13, "an exception of a kernel" }, { 31, "a fault of the GPU's memory pages" },
    { 48, "an uncorrectable error of memory" }, { 63, "a row of memory that is remapped" },
    { 64, "a row of memory that could not be remapped" }, { 74, "an error of NVLink" },
    { 79, "the GPU has fallen off the bus" }, { 92, "many corrected errors of memory" },
    { 94, "a contained error of memory" }, { 95, "an uncontained error of memory" },
    { 119, "the GPU's system processor does not answer" }, { 120, "an error of the GPU's system processor" } } };

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != text.npos;
}

} // namespace

HardwareSign hardwareSignOf(const SampleSeries &series)
{
    const std::string_view name = series.name;
    if (series.isByStep)
        return {};
    if (name == samples::kSmClock)
        return { Clock, RuleId::Clock };
    if (name == samples::kGpuUtilization)
        return { Use };
    if (name == samples::kTemperature)
        return { Heat, RuleId::Temperature };
    if (name.ends_with("gpu_afid_errors")) { // corrected ones are no alarm
        const std::string_view where = series.where;
        const bool isBad = contains(where, "severity=fatal") || contains(where, "severity=non_fatal_uncorrected");
        return isBad ? HardwareSign { Number, RuleId::Xid, "field identifier" } : HardwareSign {};
    }
    const auto known = std::ranges::find_if(kSigns, [&](const NamedSign &one) { return name.ends_with(one.end); });
    if (known != kSigns.end())
        return known->sign;
    const bool isOfLinks = contains(name, "NVLINK") && name.ends_with("_TOTAL");
    if (isOfLinks && (contains(name, "ERROR") || contains(name, "REPLAY") || contains(name, "RECOVERY")))
        return { Counter, RuleId::NvLink, kLinkErrors };
    return {};
}

const char *throttleReasonOf(std::uint64_t bits)
{
    const auto reason =
        std::ranges::find_if(kThrottleReasons, [&](const ThrottleReason &one) { return (bits & one.bit) != 0; });
    return reason == kThrottleReasons.end() ? nullptr : reason->what;
}

std::string xidWords(int number)
{
    const auto known = std::ranges::find(kXids, number, &Xid::number);
    return known == kXids.end() ? std::string() : std::string(": ") + known->what;
}

std::string_view gpuOf(std::string_view where)
{
    return where.substr(0, where.find('{'));
}

std::string_view nodeOf(std::string_view where)
{
    const std::string_view gpu = gpuOf(where);
    const std::size_t at = gpu.rfind("/gpu");
    return at == gpu.npos ? std::string_view() : gpu.substr(0, at);
}

} // namespace trainyard::watch
