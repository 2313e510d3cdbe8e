#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What OTLP messages hold, whichever way they are encoded, brought into a recording (telemetry specification 5.1):
// points into series, spans and log records onto host streams of their rank, attributes of the resource into arguments.
// Deltas are summed, cumulative values go on over restarts, histograms become means. A resource is told once and stands
// in every series of it: what is held is bounded (held_bytes.h), and what finds no room is counted as dropped.

#include "core/runs/telemetry/readers/exporter_metrics.h"
#include "core/runs/telemetry/readers/otlp_history.h"

namespace trainyard::readers {

/// What a metric's points are.
enum class OtlpKind : std::uint8_t { Gauge, Sum, Distribution };

struct OtlpMetric {
    std::string name, unit; // heldText()
    OtlpKind kind = OtlpKind::Gauge;
    bool isDelta = false; // aggregation temporality 1
};

struct OtlpPoint {
    std::int64_t start = 0, time = 0; // Unix nanoseconds
    double value = 0; // or the sum of a distribution
    double count = 0; // of a distribution
    bool isMissing = false; // flags: no recorded value
    MetricLabels attributes;
};

struct OtlpSpan {
    std::string name;
    std::int64_t start = 0, end = 0;
    MetricLabels attributes;
};

/// Attributes of one resource, point or span that are taken; exporters send 128 at most unless told otherwise.
inline constexpr std::size_t kMostAttributes = 512;

class OtlpCollector {
public:
    /// `history`: of the messages before this one; null: there are none.
    OtlpCollector(const SourceText &source, SourceKind kind, OtlpHistory *history = nullptr);
    void setResource(const MetricLabels &attributes);
    void setScope(std::string_view name) { m_scope = heldText(name); }
    void add(const OtlpMetric &metric, OtlpPoint point);
    void add(const OtlpSpan &span);
    void addLog(std::string_view body, std::int64_t time);
    [[nodiscard]] RecordingBuilder &scribe() { return m_scribe; }
    [[nodiscard]] Expected<Recording> finish(const SourceText &source);

private:
    struct Collected {
        OtlpKind kind = OtlpKind::Gauge;
        bool isDelta = false;
        SampleSeries series; // without samples
        double factor = 1;
        OtlpSeries key;
        std::vector<OtlpPoint> points; // without attributes
    };
    struct HostSpan {
        std::int64_t start, duration;
        std::uint32_t name;
        RecordedWork work;
    };
    void write(Collected &collected);
    void remember(const Collected &collected, const OtlpPoint *last, double total);
    [[nodiscard]] const OtlpHistory::Standing *standingOf(const Collected &collected) const;
    [[nodiscard]] std::int64_t nextStep(const RankRecording &rank);
    /// nullptr: there is no room
    std::vector<HostSpan> *streamOf(const std::string &label);
    bool addHostSpan(const std::string &label, const HostSpan &span);
    /// kNewSeries: there is no room
    std::size_t rankIndex();

    OtlpHistory *m_history;
    RecordingBuilder m_scribe;
    NameTable m_nameOf;
    SharedText m_place, m_host; // of the resource
    std::string m_scope;
    int m_rank = -1;
    std::size_t m_rankIndex = RecordingBuilder::kNewSeries; // of the resource, once it was asked for
    std::vector<Collected> m_collected;
    OtlpSeriesTable<std::size_t> m_index; // of m_collected
    std::map<std::pair<SharedText, int>, std::size_t> m_ranks; // place and rank → recording().ranks
    std::map<std::pair<std::size_t, std::string>, std::vector<HostSpan>> m_streams; // rank and label
};

} // namespace trainyard::readers
