// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/validation/validation_report.h"

#include <nlohmann/json.hpp>

namespace trainyard {

namespace {

using Json = nlohmann::ordered_json;

Json orNull(const std::optional<double> &value)
{
    return value ? Json(*value) : Json(nullptr);
}

Json orNull(const std::string &text)
{
    return text.empty() ? Json(nullptr) : Json(text);
}

Json statisticsObject(const ErrorStatistics &s)
{
    const auto figure = [&](double value) { return s.n > 0 ? Json(value) : Json(nullptr); };
    return { { "n", s.n }, { "mean_abs_error", figure(s.meanAbs) }, { "median_abs_error", figure(s.medianAbs) },
        { "max_abs_error", figure(s.maxAbs) }, { "bias", figure(s.bias) },
        { "rank_correlation", orNull(s.rankCorrelation) } };
}

Json metricObject(const MetricSummary &metric)
{
    Json json = statisticsObject(metric.gated);
    json["failed"] = metric.failed;
    json["fit"] = metric.fit.n > 0 ? statisticsObject(metric.fit) : Json(nullptr);
    json["test"] = metric.test.n > 0 ? statisticsObject(metric.test) : Json(nullptr);
    json["guessed"] = metric.guessed.n > 0 ? statisticsObject(metric.guessed) : Json(nullptr);
    return json;
}

Json sourceObject(const SourceSummary &source)
{
    Json metrics = Json::object();
    for (const MetricSummary &metric : source.metrics)
        metrics[metric.metric] = metricObject(metric);
    return { { "source", source.source }, { "title", orNull(source.title) }, { "url", orNull(source.url) },
        { "rows", source.rows },
        { "fit_in_memory", { { "ran", source.fit.ran }, { "judged_too_large", source.fit.judgedTooLarge } } },
        { "metrics", std::move(metrics) } };
}

Json gateObject(const GateOutcome &outcome)
{
    const Gate &gate = outcome.gate;
    return { { "title", gate.title }, { "source", gate.source }, { "group", gate.group }, { "metric", gate.metric },
        { "statistic", toString(gate.statistic) }, { "status", toString(gate.status) },
        { "role", gate.role ? Json(toString(*gate.role)) : Json(nullptr) }, { "limit", gate.limit },
        { "aim", gate.isAim }, { "n", outcome.n }, { "failed", outcome.failed }, { "reached", orNull(outcome.reached) },
        { "met", outcome.isMet } };
}

Json coverageObject(const Coverage &c)
{
    if (c.rows == 0)
        return nullptr;
    return { { "rows", c.rows }, { "publications", c.publications }, { "inside", c.inside },
        { "inside_alike", c.insideAlike }, { "interval_score", c.score }, { "interval_score_alike", c.scoreAlike } };
}

Json rowObject(const ValidationResult &r)
{
    return { { "source", r.source }, { "group", orNull(r.group) }, { "id", r.id }, { "metric", r.metric },
        { "published", r.published }, { "predicted", orNull(r.predicted) }, { "error", orNull(r.error()) },
        { "status", toString(r.status) }, { "role", toString(r.role) },
        { "fits", r.fits ? Json(*r.fits) : Json(nullptr) }, { "problem", orNull(r.problem) },
        { "note", orNull(r.note) } };
}

} // namespace

std::string validationJson(const Validation &validation)
{
    Json json { { "complete", validation.run.isComplete }, { "sources", Json::array() }, { "gates", Json::array() },
        { "coverage", Json::array() }, { "rows", Json::array() } };
    for (const SourceSummary &source : validation.sources)
        json["sources"].push_back(sourceObject(source));
    for (const GateOutcome &gate : validation.gates)
        json["gates"].push_back(gateObject(gate));
    for (const LabelCoverage &label : validation.coverage)
        json["coverage"].push_back({ { "label", toString(label.label) }, { "all", coverageObject(label.all) },
            { "test", coverageObject(label.test) }, { "guessed", coverageObject(label.guessed) } });
    for (const ValidationResult &result : validation.run.results)
        json["rows"].push_back(rowObject(result));
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace trainyard
