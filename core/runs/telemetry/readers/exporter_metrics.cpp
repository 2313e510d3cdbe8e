// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/exporter_metrics.h"

#include "core/runs/telemetry/readers/text_scan.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

namespace trainyard::readers {

namespace {

constexpr double kMebi = 1048576;
constexpr std::string_view kPrefix = "prometheus.";

struct KnownMetric {
    std::string_view exported;
    const char *name; // nullptr: its own
    const char *unit;
    double factor;
};

constexpr std::array kKnown = std::to_array<KnownMetric>({
    { "DCGM_FI_DEV_GPU_UTIL", samples::kGpuUtilization, "1", 0.01 },
    { "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", samples::kTensorActive, "1", 1 },
    { "DCGM_FI_PROF_SM_ACTIVE", samples::kSmActive, "1", 1 },
    { "DCGM_FI_PROF_DRAM_ACTIVE", samples::kDramActive, "1", 1 },
    { "DCGM_FI_DEV_FB_USED", samples::kMemoryUsed, "B", kMebi },
    { "DCGM_FI_DEV_FB_FREE", samples::kMemoryFree, "B", kMebi },
    { "DCGM_FI_DEV_FB_RESERVED", nullptr, "B", kMebi },
    { "DCGM_FI_DEV_FB_TOTAL", nullptr, "B", kMebi },
    { "DCGM_FI_DEV_POWER_USAGE", samples::kPower, "W", 1 },
    { "DCGM_FI_DEV_POWER_USAGE_INSTANT", nullptr, "W", 1 },
    { "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", nullptr, "J", 1e-3 },
    { "DCGM_FI_DEV_GPU_TEMP", samples::kTemperature, "°C", 1 },
    { "DCGM_FI_DEV_MEMORY_TEMP", nullptr, "°C", 1 },
    { "DCGM_FI_DEV_SM_CLOCK", samples::kSmClock, "Hz", 1e6 },
    { "DCGM_FI_DEV_MEM_CLOCK", nullptr, "Hz", 1e6 },
    { "DCGM_FI_DEV_MEM_COPY_UTIL", nullptr, "1", 0.01 },
    { "DCGM_FI_PROF_PCIE_TX_BYTES", samples::kPcieToHost, "B/s", 1 },
    { "DCGM_FI_PROF_PCIE_RX_BYTES", samples::kPcieToGpu, "B/s", 1 },
    { "DCGM_FI_PROF_NVLINK_TX_BYTES", samples::kNvlinkOut, "B/s", 1 },
    { "DCGM_FI_PROF_NVLINK_RX_BYTES", samples::kNvlinkIn, "B/s", 1 },
    { "nvidia_smi_utilization_gpu_ratio", samples::kGpuUtilization, "1", 1 },
    { "nvidia_smi_memory_used_bytes", samples::kMemoryUsed, "B", 1 },
    { "nvidia_smi_power_draw_watts", samples::kPower, "W", 1 },
    // AMD's device metrics exporter
    { "gpu_gfx_activity", samples::kGpuUtilization, "1", 0.01 },
    { "gpu_umc_activity", nullptr, "1", 0.01 },
    { "gpu_used_vram", samples::kMemoryUsed, "B", kMebi },
    { "gpu_free_vram", samples::kMemoryFree, "B", kMebi },
    { "gpu_total_vram", nullptr, "B", kMebi },
    { "gpu_package_power", samples::kPower, "W", 1 },
    { "gpu_average_package_power", nullptr, "W", 1 },
    { "gpu_energy_consumed", nullptr, "J", 1e-6 },
    { "gpu_junction_temperature", samples::kTemperature, "°C", 1 },
    { "gpu_memory_temperature", nullptr, "°C", 1 },
    { "gpu_edge_temperature", samples::kTemperature, "°C", 1 },
    { "gpu_power_usage", nullptr, "W", 1 },
    { "gpu_clock", nullptr, "Hz", 1e6 }, // of the system: samples::kSmClock
    { "gpu_health", nullptr, "1", 1 },
    { "gpu_afid_errors", nullptr, "", 1 },
    { "gpu_ecc_correct_total", nullptr, "", 1 },
    { "gpu_ecc_uncorrect_total", nullptr, "", 1 },
    { "gpu_ecc_uncorrect_xgmi_wafl", nullptr, "", 1 },
    { "gpu_violation_processor_hot_residency_percentage", nullptr, "1", 0.01 },
    { "gpu_violation_socket_thermal_residency_percentage", nullptr, "1", 0.01 },
    { "gpu_violation_vr_thermal_residency_percentage", nullptr, "1", 0.01 },
    { "gpu_violation_hbm_thermal_residency_percentage", nullptr, "1", 0.01 },
    { "gpu_violation_gfx_clock_below_host_limit_thermal_percentage", nullptr, "1", 0.01 },
    { "pcie_replay_count", nullptr, "", 1 },
    // AMD's SMI exporter: with units in its names, and before (those of ROCm SMI)
    { "amd_gpu_use_percent", samples::kGpuUtilization, "1", 0.01 },
    { "amd_gpu_SCLK_MHz", samples::kSmClock, "Hz", 1e6 },
    { "amd_gpu_SCLK", samples::kSmClock, "Hz", 1 },
    { "amd_gpu_power_Watts", samples::kPower, "W", 1 },
    { "amd_gpu_power_avg", samples::kPower, "W", 1e-6 },
    { "amd_gpu_current_temperature_Celcius", samples::kTemperature, "°C", 1 },
    { "amd_gpu_current_temperature", samples::kTemperature, "°C", 1e-3 },
    // Health, as DCGM tells it
    { "DCGM_FI_DEV_XID_ERRORS", nullptr, "", 1 },
    { "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", nullptr, "", 1 },
    { "DCGM_FI_DEV_CLOCKS_EVENT_REASONS", nullptr, "", 1 },
    { "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", nullptr, "", 1 },
    { "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", nullptr, "", 1 },
    { "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", nullptr, "", 1 },
    { "DCGM_FI_DEV_ROW_REMAP_FAILURE", nullptr, "", 1 },
    { "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", nullptr, "", 1 },
    { "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", nullptr, "", 1 },
    { "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", nullptr, "", 1 },
    { "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", nullptr, "", 1 },
    { "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", nullptr, "", 1 },
    { "DCGM_FI_DEV_NVLINK_COUNT_RX_ERRORS", nullptr, "", 1 },
    { "DCGM_FI_DEV_NVLINK_COUNT_RX_REMOTE_ERRORS", nullptr, "", 1 },
    { "DCGM_FI_DEV_NVLINK_COUNT_RX_MALFORMED_PACKET_ERRORS", nullptr, "", 1 },
    { "DCGM_FI_DEV_NVLINK_COUNT_LOCAL_LINK_INTEGRITY_ERRORS", nullptr, "", 1 },
    { "DCGM_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS", nullptr, "", 1 },
    { "DCGM_FI_DEV_NVSWITCH_FATAL_ERRORS", nullptr, "", 1 },
    { "nccl_bus_bandwidth_gbs", nullptr, "B/s", 1e9 },
    { "nccl_p2p_bus_bandwidth_gbs", nullptr, "B/s", 1e9 },
});

/// Counters of bytes → what their rate is.
constexpr std::array<std::pair<std::string_view, const char *>, 4> kNetworkCounters { {
    { "prometheus.node_network_transmit_bytes_total", samples::kNetworkOut },
    { "prometheus.node_network_receive_bytes_total", samples::kNetworkIn },
    { "prometheus.node_infiniband_port_data_transmitted_bytes_total", samples::kNetworkOut },
    { "prometheus.node_infiniband_port_data_received_bytes_total", samples::kNetworkIn },
} };

constexpr std::array<std::string_view, 7> kHostLabels { "Hostname", "hostname", "node", "kubernetes_node", "nodename",
    "host_name", "instance" };

/// Labels that describe what other labels already tell apart.
constexpr std::array<std::string_view, 39> kDescriptions { "gpu_id", "card_model", "card_series", "card_vendor",
    "serial_number", "driver_version", "vbios_version", "gpu_partition_id", "gpu_compute_partition_type",
    "gpu_memory_partition_type", "job_id", "job_user", "job_partition", "__name__", "UUID", "uuid", "gpu_uuid",
    "pci_bus_id", "modelName", "model_name", "GPU_I_PROFILE", "container", "namespace", "pod", "job", "instance",
    "service", "endpoint", "Hostname", "hostname", "node", "kubernetes_node", "nodename", "host_name", "gpu", "nvlink",
    "nvswitch", "GPU_I_ID", "port" };

std::string_view unitBySuffix(std::string_view name)
{
    if (name.ends_with("_total"))
        name.remove_suffix(6);
    constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kSuffixes { { { "_bytes", "B" },
        { "_seconds", "s" }, { "_celsius", "°C" }, { "_watts", "W" }, { "_joules", "J" }, { "_hertz", "Hz" },
        { "_ratio", "1" } } };
    for (const auto &[suffix, unit] : kSuffixes)
        if (name.ends_with(suffix))
            return unit;
    return "";
}

/// "127.0.0.1:19400" without the port.
std::string_view withoutPort(std::string_view instance)
{
    const auto colon = instance.rfind(':');
    const bool isPort = colon != std::string_view::npos && colon > 0 && integerIn(instance.substr(colon + 1));
    return isPort && (instance.find(':') == colon || instance[colon - 1] == ']') ? instance.substr(0, colon) : instance;
}

std::string keyOf(std::string_view metric, const MetricLabels &labels)
{
    std::string key(metric);
    for (const auto &[name, value] : labels)
        key.append("\x01").append(name).append("\x02").append(value);
    return key;
}

/// AMD's device metrics exporter may be told to put "amd_" before its names.
std::string_view withoutMaker(std::string_view name)
{
    return name.starts_with("amd_gpu_") || name.starts_with("amd_pcie_") ? name.substr(4) : name;
}

/// Clocks of compute units, among those of memory, video and links.
bool isSystemClock(std::string_view metric, const MetricLabels &labels)
{
    const std::string_view type = labelOf(labels, "clock_type");
    return withoutMaker(metric) == "gpu_clock" && (type == "system" || type == "GPU_CLOCK_TYPE_SYSTEM");
}

/// Labels that say which GPU a value is of, under the usual names. A code of the value itself tells no series apart:
/// the XID of a GPU is one series whatever it is. AMD's SMI exporter labels amd_gpu_SCLK by gpu_SCLK.
MetricLabels plainLabels(std::string_view metric, const MetricLabels &labels)
{
    MetricLabels plain;
    for (const auto &[name, value] : labels) {
        const bool isIndex = metric.starts_with("amd_gpu_") && name.starts_with("gpu_") && name != "gpu_id"
            && metric.substr(4).starts_with(name) && integerIn(value);
        const bool isOfValue = name == "err_code" || name == "err_msg";
        const bool isOfClock = name == "clock_type" && isSystemClock(metric, labels);
        if (!isOfValue && !isOfClock)
            plain.emplace_back(isIndex ? "gpu_id" : name, value);
    }
    return plain;
}

} // namespace

ExporterMetric exporterMetricNamed(std::string_view exported)
{
    const std::string_view name = dcgmFieldNamed(exported);
    const bool isDcgm = name.starts_with("DCGM_") || name.starts_with("dcgm_");
    auto known = std::ranges::find(kKnown, name, &KnownMetric::exported);
    if (known == kKnown.end())
        known = std::ranges::find(kKnown, withoutMaker(name), &KnownMetric::exported);
    if (known == kKnown.end())
        return { std::string(kPrefix).append(name.empty() ? "query" : name), std::string(unitBySuffix(name)), 1,
            isDcgm };
    return { known->name ? known->name : std::string(kPrefix).append(known->exported), known->unit, known->factor,
        isDcgm };
}

std::vector<std::string_view> exportedMetrics()
{
    std::vector<std::string_view> names;
    for (const KnownMetric &known : kKnown)
        names.push_back(known.exported);
    static const std::vector<std::string> kUnderMakersName = [] {
        std::vector<std::string> all;
        for (const KnownMetric &known : kKnown)
            if (known.exported.starts_with("gpu_") || known.exported.starts_with("pcie_"))
                all.push_back(std::string("amd_").append(known.exported));
        return all;
    }();
    names.insert(names.end(), kUnderMakersName.begin(), kUnderMakersName.end());
    for (const auto &[name, rate] : kNetworkCounters)
        names.push_back(name.substr(kPrefix.size()));
    return names;
}

std::string_view labelOf(const MetricLabels &labels, std::string_view key)
{
    const auto known = std::ranges::find(labels, key, &std::pair<std::string, std::string>::first);
    return known != labels.end() ? std::string_view(known->second) : std::string_view();
}

std::string placeOf(const MetricLabels &labels)
{
    std::string place;
    const auto add = [&](std::string_view part, std::string_view value) {
        place.append(place.empty() ? "" : "/").append(part).append(value);
    };
    for (const std::string_view key : kHostLabels)
        if (const std::string_view host = labelOf(labels, key); !host.empty() && place.empty())
            place = key == "instance" ? withoutPort(host) : host;
    std::string_view gpu = labelOf(labels, "gpu");
    if (gpu.empty())
        gpu = labelOf(labels, "gpu_id"); // AMD's exporter
    const std::string_view device = labelOf(labels, "device");
    if (gpu.starts_with("GPU") || gpu.starts_with("gpu"))
        gpu.remove_prefix(3);
    if (gpu.empty() && device.starts_with("nvidia"))
        gpu = device.substr(6);
    if (!gpu.empty())
        add("gpu", gpu);
    else if (!device.empty())
        add("", device);
    for (const auto &[key, part] :
        { std::pair { "GPU_I_ID", "mig" }, { "nvlink", "nvlink" }, { "nvswitch", "nvswitch" }, { "port", "port" } })
        if (const std::string_view value = labelOf(labels, key); !value.empty())
            add(part, value);
    std::string rest;
    for (const auto &[key, value] : labels)
        if (!value.empty() && key != "device" && !key.starts_with("DCGM_FI_") && !key.starts_with("exported_")
            && std::ranges::find(kDescriptions, key) == kDescriptions.end())
            rest.append(rest.empty() ? "" : ",").append(key).append("=").append(value);
    return rest.empty() ? place : place + "{" + rest + "}";
}

const MetricSeries::Known &MetricSeries::of(std::string_view metric, const MetricLabels &told)
{
    const MetricLabels labels = plainLabels(metric, told);
    const std::string key = keyOf(metric, labels);
    if (const auto known = m_known.find(key); known != m_known.end())
        return known->second;
    ExporterMetric name = exporterMetricNamed(metric);
    if (isSystemClock(metric, told))
        name.name = samples::kSmClock;
    SampleSeries series {
        .name = m_texts(name.name), .unit = m_texts(name.unit), .where = m_texts(heldText(placeOf(labels)))
    };
    if (const int others = m_places[SeriesKey(series)]++; others > 0) {
        std::string where = series.where.text() + "{";
        for (const auto &[label, value] : labels)
            where.append(where.ends_with('{') ? "" : ",").append(label).append("=").append(value);
        series.where = SharedText(where + "}");
    }
    const std::size_t index = m_scribe.addSeries(std::move(series));
    if (index == RecordingBuilder::kNewSeries)
        return m_none;
    return m_known.emplace(key, Known { index, name.factor, name.isDcgm || metric.empty() }).first->second;
}

void MetricSeries::add(const Known &known, std::int64_t unixNanoseconds, double value)
{
    const bool isBlank = known.isDcgm && isDcgmBlank(value);
    if (isBlank)
        m_scribe.drop("values that DCGM marks as missing");
    m_scribe.add(
        known.series, unixNanoseconds, isBlank ? std::numeric_limits<double>::quiet_NaN() : value * known.factor);
}

void MetricSeries::addNetworkRates()
{
    const std::size_t count = m_scribe.recording().series.size();
    for (std::size_t i = 0; i < count; ++i) {
        const SampleSeries counter = m_scribe.recording().series[i];
        const auto known =
            std::ranges::find(kNetworkCounters, counter.name, &std::pair<std::string_view, const char *>::first);
        if (known == kNetworkCounters.end() || counter.at.size() < 2)
            continue;
        SampleSeries rate { .name = known->second, .unit = "B/s", .where = counter.where };
        std::set<Moment> told; // what is repeated would be counted as lost, which nobody told
        for (std::size_t k = 1; k < counter.at.size(); ++k) {
            if (counter.at[k] == RecordingBuilder::kNoTime || counter.at[k - 1] == RecordingBuilder::kNoTime)
                continue;
            const double seconds = static_cast<double>(counter.at[k] - counter.at[k - 1]) * 1e-9;
            const double bytes = counter.value[k] - counter.value[k - 1];
            if (!(seconds > 0) || !told.insert(counter.at[k]).second)
                continue;
            rate.at.push_back(counter.at[k]);
            rate.value.push_back(bytes >= 0 ? bytes / seconds : std::numeric_limits<double>::quiet_NaN());
        }
        if (!rate.at.empty())
            m_scribe.addSeries(std::move(rate));
    }
}

} // namespace trainyard::readers
