// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/prometheus_answer.h"

#include "core/base/printable.h"
#include "core/runs/telemetry/readers/exporter_metrics.h"
#include "core/runs/telemetry/readers/loose_json.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

constexpr Moment kMostMissing = 1'000'000'000; // samples; beyond it times are nonsense

bool isWebPage(std::string_view head)
{
    head = trimmed(head.substr(0, 512));
    const auto startsWith = [&](std::string_view lower) {
        return std::ranges::equal(head.substr(0, lower.size()), lower,
            [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b; });
    };
    return startsWith("<!doctype html") || startsWith("<html");
}

bool isNotFound(std::string_view head)
{
    head = trimmed(head.substr(0, 200));
    return head.size() < 100 && head.find('\n') == std::string_view::npos
        && (head.starts_with("404 ") || head.starts_with("401 ") || head.starts_with("403 ") || head.starts_with("502 ")
            || head.starts_with("503 ") || head.starts_with("504 "));
}

/// What is between <title> and its end; empty where there is none.
std::string titleOf(std::string_view page)
{
    const auto begin = page.find("<title>");
    const auto end = page.find("</title>", begin == std::string_view::npos ? 0 : begin);
    return begin == std::string_view::npos || end == std::string_view::npos
        ? std::string()
        : std::string(trimmed(page.substr(begin + 7, std::min<std::size_t>(end - begin - 7, 120))));
}

class Answer {
public:
    explicit Answer(const SourceText &source)
        : m_source(source)
        , m_scribe(source, SourceKind::PrometheusAnswer)
        , m_series(m_scribe)
    {
    }

    void addSample(const MetricSeries::Known &series, LooseJsonValue pair)
    {
        const auto at = nanosecondsIn(pair.first().raw());
        const auto value = pair.second().number();
        if (!at || !value)
            return m_scribe.drop("samples without a time or a number");
        m_series.add(series, *at, *value);
    }

    void addSeries(LooseJsonValue one)
    {
        MetricLabels labels;
        for (const LooseJsonValue label : one["metric"])
            labels.emplace_back(label.key(), label.text());
        const MetricSeries::Known &series = m_series.of(labelOf(labels, "__name__"), labels);
        if (const LooseJsonValue value = one["value"])
            addSample(series, value);
        for (const LooseJsonValue value : one["values"])
            addSample(series, value);
        if (one["histogram"] || one["histograms"])
            m_scribe.drop("native histograms");
        noteGaps(series.series);
    }

    void noteGaps(std::size_t index)
    {
        if (index == RecordingBuilder::kNewSeries)
            return;
        const SampleSeries &series = m_scribe.recording().series[index];
        Moment step = 0;
        for (std::size_t i = 1; i < series.at.size(); ++i)
            if (const Moment d = series.at[i] - series.at[i - 1]; d > 0 && (step == 0 || d < step))
                step = d;
        Moment missing = 0;
        for (std::size_t i = 1; i < series.at.size() && step > 0; ++i)
            if (const Moment d = series.at[i] - series.at[i - 1]; d - step > step)
                missing = std::min<Moment>(missing + std::min<Moment>(d / step - 1, kMostMissing), kMostMissing);
        if (missing > 0)
            m_scribe.note("Samples are missing: " + std::to_string(missing) + " of " + series.name.text()
                + (series.where.empty() ? "" : " of " + series.where.text())
                + ", as when the target could not be reached");
    }

    Expected<Recording> read(LooseJsonValue root, bool isTruncated)
    {
        const std::string type = root["data"]["resultType"].text();
        const LooseJsonValue result = root["data"]["result"];
        for (const char *list : { "warnings", "infos" })
            for (const LooseJsonValue warning : root[list])
                m_scribe.note("Prometheus: " + warning.text());
        if (root["isPartial"].isTrue())
            m_scribe.note("The server says that its answer is partial");
        if (type == "scalar")
            addSample(m_series.of("", {}), result);
        else
            for (const LooseJsonValue one : result)
                addSeries(one);
        if (m_scribe.recording().series.empty() && !isTruncated)
            m_scribe.note("The query matched nothing: there is no such metric at that time");
        m_scribe.source().isTruncated |= isTruncated;
        m_series.addNetworkRates();
        return m_scribe.finish();
    }

    Expected<Recording> refuse(LooseJsonValue root) const
    {
        if (root["status"].text() == "error")
            return refusal(m_source,
                "A Prometheus server refused the query (" + shortened(root["errorType"].text(), 60)
                    + "): " + shortened(root["error"].text(), 1'000)); // servers repeat the query that they were asked
        const LooseJsonValue data = root["data"];
        const LooseJsonValue one = data.first();
        std::string what = "It is an answer of a Prometheus server that holds no samples";
        if (data["activeTargets"])
            what = "It is a Prometheus server's list of targets, without samples";
        else if (data["resultType"])
            what = "It is the answer of a Prometheus server of the type \"" + shortened(data["resultType"].text())
                + "\", which holds no samples";
        else if (data.isArray() && one.isObject())
            what = "It is a Prometheus server's list of series, without samples";
        else if (data.isArray())
            what = "It is a Prometheus server's list of labels or of their values, without samples";
        else if (one.isArray() && one.first()["help"])
            what = "It is a Prometheus server's description of metrics, without samples";
        return refusal(m_source, what + "; save the answer of query or query_range instead");
    }

private:
    const SourceText &m_source;
    RecordingBuilder m_scribe;
    MetricSeries m_series;
};

} // namespace

int looksLikePrometheusAnswer(std::string_view, std::string_view head)
{
    if (isWebPage(head) || isNotFound(head))
        return 30;
    LooseJson json;
    if (!trimmed(head.substr(0, 256)).starts_with('{') || !json.read(head))
        return 0;
    const std::string status = json.root()["status"].text();
    if (status == "error" && json.root()["errorType"])
        return 95;
    if (status == "success" && json.root()["data"])
        return json.root()["data"]["resultType"] ? 95 : 80;
    return 0;
}

Expected<Recording> readPrometheusAnswer(const SourceText &source, const SourceOptions &)
{
    if (isWebPage(source.text)) {
        const std::string title = shortened(titleOf(source.text.substr(0, 65536)), 200);
        return refusal(source,
            "It is a web page" + (title.empty() ? "" : " (\"" + title + "\")")
                + ", as a login or a proxy in front of a server answers; it holds no metrics");
    }
    if (isNotFound(source.text))
        return refusal(source,
            "It is an answer of a web server in place of metrics: \"" + std::string(trimmed(source.text)) + "\"");
    LooseJson json;
    if (!json.read(source.text))
        return refusal(source, "It is no answer of a Prometheus server: there is no JSON in it");
    const LooseJsonValue root = json.root();
    const std::string type = root["data"]["resultType"].text();
    Answer answer(source);
    if (root["status"].text() != "success" || (type != "vector" && type != "matrix" && type != "scalar"))
        return answer.refuse(root);
    return answer.read(root, json.isTruncated() || json.isBroken());
}

} // namespace trainyard::readers
