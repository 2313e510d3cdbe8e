// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/otlp_collector.h"

#include "core/base/printable.h"
#include "core/runs/telemetry/readers/reading_bounds_internal.h"
#include "core/runs/telemetry/readers/text_scan.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard::readers {

namespace {

constexpr const char *kNoRoom = "points, spans and log records that there is no room for";
constexpr std::size_t kOfTables = 256; // bytes of a series or a stream in tables, about
constexpr std::size_t kOfCollected = sizeof(SampleSeries) + kOfTables; // of a series while its points are collected

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

struct OtlpName {
    std::string_view metric;
    const char *name, *unit;
    double factor;
};

/// Megatron-LM's metrics.
constexpr std::array<OtlpName, 7> kOtlpNames { {
    { "megatron.training.step_duration_ms", samples::kStepTime, "s", 1e-3 },
    { "megatron.training.loss", samples::kLoss, "1", 1 },
    { "megatron.training.throughput_tflops", samples::kTflopsPerGpu, "TFLOP/s", 1 },
    { "megatron.training.grad_norm", samples::kGradNorm, "1", 1 },
    { "megatron.training.learning_rate", samples::kLearningRate, "1", 1 },
    { "megatron.training.memory_allocated_gb", samples::kMemoryAllocated, "B", 1073741824 },
    { "megatron.training.tokens_per_sec", nullptr, "1/s", 1 },
} };

/// The rank that attributes of a resource tell, as Megatron-LM's "service.instance.id" = "run-rank3"; -1: none.
int rankOfResource(const MetricLabels &attributes)
{
    for (const char *key : { "rank", "dl.rank", "dl.global_rank", "process.rank" })
        if (const auto rank = integerIn(labelOf(attributes, key)); rank && *rank >= 0 && *rank < (1 << 30))
            return static_cast<int>(*rank);
    const std::string_view instance = labelOf(attributes, "service.instance.id");
    const auto at = instance.rfind("rank");
    const auto rank = at == std::string_view::npos ? std::nullopt : leadingInteger(instance.substr(at + 4));
    return rank && *rank >= 0 && *rank < (1 << 30) ? static_cast<int>(*rank) : -1;
}

RecordedWork workOf(std::string_view name)
{
    const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
    if (has("p2p") || has("grad_sync") || has("all_reduce") || has("all_gather") || has("reduce_scatter")
        || has("all_to_all"))
        return RecordedWork::Communication;
    return has("microbatch.") || has("layer.") || has("optimizer_step") ? RecordedWork::Compute
                                                                        : RecordedWork::Annotation;
}

bool isUnixTime(std::int64_t nanoseconds)
{
    return nanoseconds > 0 && nanoseconds < std::numeric_limits<std::int64_t>::max() / 2;
}

} // namespace

OtlpCollector::OtlpCollector(const SourceText &source, SourceKind kind, OtlpHistory *history)
    : m_history(history)
    , m_scribe(source, kind)
    , m_nameOf(m_scribe.recording().names)
{
}

void OtlpCollector::setResource(const MetricLabels &attributes)
{
    m_rank = rankOfResource(attributes);
    m_rankIndex = RecordingBuilder::kNewSeries;
    SharedTexts &texts = m_scribe.texts();
    m_host = texts(heldText(labelOf(attributes, "host.name")));
    m_place = m_host;
    for (const char *key : { "service.instance.id", "service.name" })
        if (m_place.empty())
            m_place = texts(heldText(labelOf(attributes, key)));
    auto &arguments = m_scribe.recording().arguments;
    for (const auto &[key, value] : attributes)
        if (key.starts_with("dl.") || key.starts_with("megatron.") || key.starts_with("nemo.")) {
            if (key.size() > kLongestArgumentName || value.size() > kLongestArgumentValue
                || (arguments.size() >= kMostArguments && !arguments.contains(key)))
                m_scribe.drop("arguments that are too long or too many");
            else
                arguments.try_emplace(key, value);
        }
    m_scope.clear();
}

void OtlpCollector::add(const OtlpMetric &metric, OtlpPoint point)
{
    if (!isUnixTime(point.time))
        return m_scribe.drop("points without a time");
    const SharedText &place = m_rank >= 0 ? m_host : m_place;
    std::string labelled, labels;
    for (const auto &[key, value] : point.attributes)
        labels.append(labels.empty() ? "" : ",").append(key).append("=").append(value);
    if (!labels.empty())
        labelled = heldText(place.text() + "{" + labels + "}");
    const std::string_view where = labels.empty() ? std::string_view(place) : labelled;
    auto known = m_index.find(OtlpSought { metric.name, where, m_place, m_rank });
    if (known == m_index.end()) {
        const auto named = std::ranges::find(kOtlpNames, metric.name, &OtlpName::metric);
        const bool isKnown = named != kOtlpNames.end();
        const std::string name = isKnown && named->name ? named->name : "otlp." + metric.name;
        const std::string_view unit = isKnown ? std::string_view(named->unit) : metric.unit;
        SharedTexts &texts = m_scribe.texts();
        std::size_t bytes = kOfCollected;
        for (const std::string_view text : { std::string_view(metric.name), where, std::string_view(name), unit })
            bytes += texts.bytesFor(text);
        if (!m_scribe.held().take(bytes))
            return m_scribe.drop(kNoRoom);
        const OtlpSeries key { texts(metric.name), texts(where), m_place, m_rank };
        Collected made {
            .kind = metric.kind, .isDelta = metric.isDelta, .factor = isKnown ? named->factor : 1, .key = key
        };
        made.series.name = texts(name);
        made.series.unit = texts(unit);
        made.series.rank = m_rank;
        made.series.where = key.where;
        known = m_index.emplace(key, m_collected.size()).first;
        m_collected.push_back(std::move(made));
    }
    if (!m_scribe.held().take(sizeof point))
        return m_scribe.drop(kNoRoom);
    point.attributes = {}; // they are in the series' place
    m_collected[known->second].points.push_back(std::move(point));
}

/// In order of time, since retries repeat and reorder points.
void OtlpCollector::write(Collected &collected)
{
    auto &points = collected.points;
    std::ranges::stable_sort(points, {}, &OtlpPoint::time);
    const auto repeated = std::ranges::unique(points, {}, &OtlpPoint::time);
    m_scribe.drop("points sent again", static_cast<std::int64_t>(repeated.size()));
    points.erase(repeated.begin(), repeated.end());
    m_scribe.held().giveBack(kOfCollected + points.size() * sizeof(OtlpPoint)); // they are let go below
    const std::size_t series = m_scribe.addSeries(std::move(collected.series));
    OtlpPoint stood;
    const OtlpPoint *before = nullptr;
    double total = 0; // of what was before a restart, or of deltas
    if (const OtlpHistory::Standing *standing = standingOf(collected)) {
        stood = {
            .start = standing->start, .time = standing->time, .value = standing->value, .count = standing->count
        };
        before = &stood;
        total = standing->total;
    }
    for (const OtlpPoint &point : points) {
        if (before == &stood && point.time <= stood.time) {
            m_scribe.drop("points sent again");
            continue;
        }
        double value = point.value;
        const bool hasRestarted = before && point.start != before->start && !collected.isDelta;
        if (collected.kind == OtlpKind::Sum) {
            if (hasRestarted)
                total += before->value;
            value += total;
            if (collected.isDelta && !point.isMissing)
                total = value;
        } else if (collected.kind == OtlpKind::Distribution) {
            const bool goesOn = before && !collected.isDelta && !hasRestarted;
            const double count = point.count - (goesOn ? before->count : 0);
            value = count > 0 ? (point.value - (goesOn ? before->value : 0)) / count : kMissing;
        }
        m_scribe.add(series, point.time, point.isMissing ? kMissing : value * collected.factor);
        if (!point.isMissing)
            before = &point;
    }
    remember(collected, before, total);
    std::vector<OtlpPoint>().swap(points);
}

/// Of gauges nothing has to be known.
const OtlpHistory::Standing *OtlpCollector::standingOf(const Collected &collected) const
{
    if (!m_history || collected.kind == OtlpKind::Gauge)
        return nullptr;
    const auto known = m_history->points.find(collected.key);
    return known != m_history->points.end() ? &known->second : nullptr;
}

void OtlpCollector::remember(const Collected &collected, const OtlpPoint *last, double total)
{
    if (!m_history || !last || collected.kind == OtlpKind::Gauge)
        return;
    auto &points = m_history->points;
    const auto known = points.find(collected.key);
    const OtlpHistory::Standing standing { last->start, last->time, last->value, last->count, total };
    if (known != points.end()) {
        known->second = standing;
    } else if (const OtlpSeries &key = collected.key; points.size() < OtlpHistory::mostPoints
               && key.textBytes() <= OtlpHistory::mostKey && m_history->texts.bytes() <= OtlpHistory::mostTextBytes) {
        SharedTexts &texts = m_history->texts;
        points.emplace(OtlpSeries { texts(key.metric), texts(key.where), texts(key.place), key.rank }, standing);
    }
}

/// Of a step that tells no number: the one behind those before it.
std::int64_t OtlpCollector::nextStep(const RankRecording &rank)
{
    if (!m_history || m_place.size() > OtlpHistory::mostPlace
        || (m_history->steps.size() >= OtlpHistory::mostSteps && !m_history->steps.contains({ m_place, m_rank })))
        return static_cast<std::int64_t>(rank.steps.size());
    return m_history->steps[{ m_place, m_rank }]++;
}

std::size_t OtlpCollector::rankIndex()
{
    if (m_rankIndex != RecordingBuilder::kNewSeries)
        return m_rankIndex;
    auto &ranks = m_scribe.recording().ranks;
    std::pair<SharedText, int> key { m_place, m_rank };
    if (const auto known = m_ranks.find(key); known != m_ranks.end())
        return m_rankIndex = known->second;
    if (!m_scribe.held().take(sizeof(RankRecording) + kOfTables + 2 * m_place.size() + m_host.size()))
        return RecordingBuilder::kNewSeries;
    m_ranks.emplace(std::move(key), ranks.size());
    ranks.push_back({ .rank = m_rank, .source = 0, .host = m_host.empty() && m_rank < 0 ? m_place : m_host });
    return m_rankIndex = ranks.size() - 1;
}

std::vector<OtlpCollector::HostSpan> *OtlpCollector::streamOf(const std::string &label)
{
    const std::size_t rank = rankIndex();
    if (rank == RecordingBuilder::kNewSeries)
        return nullptr;
    std::pair<std::size_t, std::string> key { rank, label };
    if (const auto known = m_streams.find(key); known != m_streams.end())
        return &known->second;
    if (!m_scribe.held().take(sizeof(RecordedStream) + kOfTables + 2 * label.size()))
        return nullptr;
    return &m_streams[std::move(key)];
}

bool OtlpCollector::addHostSpan(const std::string &label, const HostSpan &span)
{
    std::vector<HostSpan> *stream = streamOf(label);
    if (!stream || !m_scribe.held().take(2 * sizeof span))
        return m_scribe.drop(kNoRoom), false;
    stream->push_back(span);
    ++m_scribe.source().taken;
    return true;
}

void OtlpCollector::add(const OtlpSpan &span)
{
    constexpr std::int64_t kLongest = std::int64_t(1) << 60; // ns, 36 years
    if (!isUnixTime(span.start) || !isUnixTime(span.end) || span.end < span.start || span.end - span.start > kLongest)
        return m_scribe.drop("spans without a time");
    const std::string name = shortened(span.name, 200);
    if (!addHostSpan(
            m_scope.empty() ? "spans" : m_scope, { span.start, span.end - span.start, m_nameOf(name), workOf(name) }))
        return;
    if (name.ends_with("train_step")) {
        RankRecording &rank = m_scribe.recording().ranks[rankIndex()];
        std::optional<std::int64_t> number;
        for (const char *key : { "iteration", "step", "global_step", "megatron.iteration" })
            if (const auto told = integerIn(labelOf(span.attributes, key)))
                number = told;
        rank.steps.push_back({ number ? *number : nextStep(rank), span.start, span.end });
    }
}

void OtlpCollector::addLog(std::string_view body, std::int64_t time)
{
    if (!isUnixTime(time))
        return m_scribe.drop("log records without a time");
    const std::string text = shortened(printable(body.substr(0, kLongestHeldText)), 200);
    addHostSpan("log records", { time, 0, m_nameOf(text), RecordedWork::Annotation });
}

Expected<Recording> OtlpCollector::finish(const SourceText &source)
{
    for (Collected &collected : m_collected)
        write(collected);
    Recording &recording = m_scribe.recording();
    for (auto &[key, spans] : m_streams) {
        std::ranges::stable_sort(spans, [](const HostSpan &a, const HostSpan &b) {
            return a.start != b.start ? a.start < b.start : a.duration > b.duration;
        });
        RankRecording &rank = recording.ranks[key.first];
        RecordedStream stream {
            .isGpu = false, .stream = static_cast<std::int64_t>(rank.streams.size()), .label = key.second
        };
        for (const HostSpan &span : spans) {
            stream.spans.start.push_back(span.start);
            stream.spans.duration.push_back(span.duration);
            stream.spans.name.push_back(span.name);
            stream.spans.work.push_back(span.work);
        }
        rank.streams.push_back(std::move(stream));
    }
    for (RankRecording &rank : recording.ranks)
        std::ranges::stable_sort(rank.steps, {}, &RecordedStep::start);
    std::ranges::stable_sort(recording.ranks, {},
        [](const RankRecording &rank) { return rank.rank < 0 ? std::numeric_limits<int>::max() : rank.rank; });
    if (m_scribe.source().taken == 0)
        return refusal(source, "It is an OTLP message without a point, a span or a log record");
    return m_scribe.finish();
}

} // namespace trainyard::readers
