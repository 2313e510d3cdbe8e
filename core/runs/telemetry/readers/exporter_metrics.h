#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What metrics of exporters are in the names and units of sample_names.h: DCGM's fields under their names of before and
// since 4.6, nvidia_gpu_exporter's, node_exporter's counters, NCCL Inspector's. Whose they are is told by labels, which
// differ by version and scraper. Pure functions.

#include "core/runs/telemetry/readers/recording_builder.h"
#include "core/runs/telemetry/series_key.h"

#include <utility>

namespace trainyard::readers {

struct ExporterMetric {
    std::string name, unit; // canonical, or "prometheus." and its own
    double factor = 1; // of its values
    bool isDcgm = false; // blanks of DCGM are possible
};
[[nodiscard]] ExporterMetric exporterMetricNamed(std::string_view exported);
/// The exporters' names of all metrics that have one of ours, network counters too; of DCGM those of before 4.6.
[[nodiscard]] std::vector<std::string_view> exportedMetrics();
/// DCGM's field name of before 4.6 of either one; other names come back as they are.
[[nodiscard]] std::string_view dcgmFieldNamed(std::string_view name);
/// The two names of each renamed field, the older first.
[[nodiscard]] std::span<const std::pair<std::string_view, std::string_view>> dcgmRenamedFields();

/// Whether DCGM wrote "there is no value" as a number: its blanks of 64 and 32 bits and of doubles, also after they
/// went through a double.
[[nodiscard]] bool isDcgmBlank(double value);

using MetricLabels = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] std::string_view labelOf(const MetricLabels &labels, std::string_view key);
/// "node000/gpu3", "node000/eth0", and behind it what else tells series apart: "node000{cpu=0,mode=idle}".
[[nodiscard]] std::string placeOf(const MetricLabels &labels);

/// The series of a metric and its labels, made where it is new, and how its values are to be taken.
class MetricSeries {
public:
    explicit MetricSeries(RecordingBuilder &scribe)
        : m_scribe(scribe)
    {
    }
    struct Known {
        std::size_t series;
        double factor;
        bool isDcgm;
    };
    [[nodiscard]] const Known &of(std::string_view metric, const MetricLabels &labels);
    void add(const Known &known, std::int64_t unixNanoseconds, double value);
    /// Bytes per second of the counters of network devices, between successive samples; after a reset no value.
    void addNetworkRates();

private:
    RecordingBuilder &m_scribe;
    std::unordered_map<std::string, Known> m_known;
    /// of a series that there is no room for
    Known m_none { RecordingBuilder::kNewSeries, 1, false };
    SharedTexts m_texts;
    SeriesTable<int> m_places; // → series that have this name and place
};

} // namespace trainyard::readers
