// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/loose_json.h"
#include "core/runs/telemetry/readers/otlp.h"
#include "core/runs/telemetry/readers/otlp_collector.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <array>

namespace trainyard::readers {

namespace {

std::string anyValueText(LooseJsonValue value)
{
    for (const char *kind : { "stringValue", "intValue", "doubleValue", "boolValue", "bytesValue" })
        if (const LooseJsonValue scalar = value[kind])
            return scalar.text();
    std::string list;
    for (const LooseJsonValue one : value["arrayValue"]["values"])
        for (const char *kind : { "stringValue", "intValue", "doubleValue", "boolValue" })
            if (const LooseJsonValue scalar = one[kind])
                list.append(list.empty() ? "" : ", ").append(scalar.raw());
    return list;
}

MetricLabels attributesOf(LooseJsonValue holder)
{
    MetricLabels attributes;
    for (const LooseJsonValue one : holder["attributes"])
        if (attributes.size() < kMostAttributes)
            attributes.emplace_back(one["key"].text(), anyValueText(one["value"]));
    return attributes;
}

std::int64_t timeOf(LooseJsonValue holder, std::string_view key)
{
    return holder[key].integer().value_or(0);
}

class JsonMessages {
public:
    explicit JsonMessages(OtlpCollector &to)
        : m_to(to)
    {
    }

    void add(LooseJsonValue root)
    {
        for (const auto &[resources, scopes, items] : kSignals)
            for (const LooseJsonValue resource : root[resources]) {
                m_to.setResource(attributesOf(resource["resource"]));
                for (const LooseJsonValue scope : resource[scopes]) {
                    m_to.setScope(scope["scope"]["name"].text());
                    for (const LooseJsonValue item : scope[items])
                        addItem(items, item);
                }
            }
    }

private:
    struct Signal {
        const char *resources, *scopes, *items;
    };
    static constexpr std::array<Signal, 5> kSignals { {
        { "resourceMetrics", "scopeMetrics", "metrics" },
        { "resourceSpans", "scopeSpans", "spans" },
        { "resourceLogs", "scopeLogs", "logRecords" },
        { "resourceMetrics", "instrumentationLibraryMetrics", "metrics" }, // of before 0.15
        { "resourceSpans", "instrumentationLibrarySpans", "spans" },
    } };

    void addItem(std::string_view items, LooseJsonValue item)
    {
        if (items == "metrics")
            return addMetric(item);
        if (items == "spans")
            return m_to.add(OtlpSpan { item["name"].text(), timeOf(item, "startTimeUnixNano"),
                timeOf(item, "endTimeUnixNano"), attributesOf(item) });
        const std::int64_t time = timeOf(item, "timeUnixNano");
        m_to.addLog(anyValueText(item["body"]), time > 0 ? time : timeOf(item, "observedTimeUnixNano"));
    }

    void addMetric(LooseJsonValue item)
    {
        OtlpMetric metric { .name = heldText(item["name"].text()), .unit = heldText(item["unit"].text()) };
        for (const auto &[key, kind] :
            { std::pair { "gauge", OtlpKind::Gauge }, { "sum", OtlpKind::Sum }, { "histogram", OtlpKind::Distribution },
                { "exponentialHistogram", OtlpKind::Distribution }, { "summary", OtlpKind::Distribution } }) {
            const LooseJsonValue data = item[key];
            metric.kind = kind;
            const std::string_view temporality = data["aggregationTemporality"].raw();
            metric.isDelta = temporality == "1" || temporality == "AGGREGATION_TEMPORALITY_DELTA";
            for (const LooseJsonValue point : data["dataPoints"])
                addPoint(metric, point);
        }
    }

    void addPoint(const OtlpMetric &metric, LooseJsonValue json)
    {
        OtlpPoint point { .start = timeOf(json, "startTimeUnixNano"), .time = timeOf(json, "timeUnixNano") };
        point.isMissing = (json["flags"].integer().value_or(0) & 1) != 0;
        std::optional<double> value = json[metric.kind == OtlpKind::Distribution ? "sum" : "asDouble"].number();
        if (!value && metric.kind != OtlpKind::Distribution)
            value = json["asInt"].number();
        if (!value && !point.isMissing)
            return m_to.scribe().drop("points without a value");
        point.value = value.value_or(0);
        point.count = json["count"].numberOr(0);
        point.attributes = attributesOf(json);
        m_to.add(metric, std::move(point));
    }

    OtlpCollector &m_to;
};

} // namespace

int looksLikeOtlpJson(std::string_view, std::string_view head)
{
    const std::string_view begin = trimmed(head.substr(0, 4096));
    if (!begin.starts_with('{'))
        return 0;
    for (const char *key : { "\"resourceMetrics\"", "\"resourceSpans\"", "\"resourceLogs\"" })
        if (begin.substr(0, 64).find(key) != std::string_view::npos)
            return 95;
    return 0;
}

Expected<Recording> readOtlpJson(const SourceText &source, const SourceOptions &options)
{
    return readOtlpJson(source, options, nullptr);
}

Expected<Recording> readOtlpJson(const SourceText &source, const SourceOptions &options, OtlpHistory *history)
{
    OtlpCollector collector(source, SourceKind::OtlpJson, history);
    JsonMessages messages(collector);
    ReadingPace pace(source, options);
    LooseJson json;
    for (std::size_t at = source.text.find('{'); at != std::string_view::npos && !pace.isStopped(at);) {
        if (!json.read(source.text, at))
            break;
        messages.add(json.root());
        if (json.isTruncated())
            collector.scribe().source().isTruncated = true;
        if (json.isBroken())
            collector.scribe().drop("messages with a byte that is no JSON, from there on");
        const auto from = json.isBroken() ? source.text.find('\n', json.end()) : json.end();
        at = from == std::string_view::npos ? from : source.text.find('{', from);
    }
    return collector.finish(source);
}

} // namespace trainyard::readers
