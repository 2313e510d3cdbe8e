// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/sweep/sweep_lines.h"

#include "core/base/csv_text.h"
#include "core/facts/plan/json_document_internal.h"
#include "core/facts/plan/plan_io.h"
#include "core/planner/sweep/fingerprint_internal.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace trainyard {

namespace {

using detail::Json;

std::string dumped(const Json &json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string numberText(double value)
{
    char text[32];
    return { text, std::to_chars(text, text + sizeof text, value).ptr };
}

bool isNumber(const std::string &text)
{
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

/// A value as the plan would take it: JSON, else a text.
std::string asJson(const std::string &value)
{
    return Json::accept(value) ? value : dumped(Json(value));
}

/// What ends a row: before and behind its sum.
struct SumFrame {
    std::string_view before, behind;
};
SumFrame sumFrame(SweepFormat format)
{
    return format == SweepFormat::Csv ? SumFrame { ",", "" } : SumFrame { ",\"sum\":\"", "\"}" };
}
constexpr std::size_t kSumDigits = 8;

std::string sumOf(std::string_view row)
{
    return detail::fingerprintOf(row).substr(0, kSumDigits);
}

/// Whether a line ends in the sum of what stands before.
bool hasItsSum(std::string_view line, SweepFormat format)
{
    const auto [before, behind] = sumFrame(format);
    const std::size_t length = before.size() + kSumDigits + behind.size();
    if (line.size() < length)
        return false;
    const std::string_view row = line.substr(0, line.size() - length);
    return line.substr(row.size()) == std::string(before) + sumOf(row) + std::string(behind);
}

} // namespace

std::optional<SweepFormat> sweepFormatOf(std::string_view path)
{
    if (path.ends_with(".csv"))
        return SweepFormat::Csv;
    if (path.ends_with(".jsonl") || path.ends_with(".ndjson"))
        return SweepFormat::JsonLines;
    return std::nullopt;
}

std::string sweepHead(const SweepSpec &spec, SweepFormat format)
{
    Json axes = Json::array();
    for (const SweepAxis &axis : spec.vary)
        axes.push_back({ { "key", axis.key }, { "values", axis.values } });
    Json head { { "format", "trainyard.sweep" }, { "version", 1 }, { "program", sweepProgram() },
        { "fingerprint", spec.fingerprint() }, { "rows", spec.rows() }, { "random", spec.random },
        { "seed", spec.seed }, { "vary", axes } };
    if (!spec.inputs.empty()) {
        head["folder"] = spec.folder;
        for (const SweepInput &input : spec.inputs)
            head["inputs"].push_back({ { "path", input.path }, { "fingerprint", input.fingerprint } });
    }
    head["plan"] = Json::parse(formatPlan(*spec.plan));
    if (format == SweepFormat::JsonLines)
        return dumped(head) + "\n";
    std::string text = "# trainyard sweep " + dumped(head) + "\nrow";
    for (const SweepAxis &axis : spec.vary)
        text += "," + csvField(axis.key);
    text += ",state";
    for (const std::string &name : sweepMetricNames())
        text += "," + name;
    return text + ",reason,sum\n";
}

SweepLines::SweepLines(const SweepSpec &spec, SweepFormat format)
    : m_format(format)
{
    for (const SweepAxis &axis : spec.vary)
        m_keys.push_back(dumped(Json(axis.key)));
}

void SweepLines::append(const SweepRow &row, std::string &text) const
{
    const std::size_t from = text.size();
    appendRow(row, text);
    const auto [before, behind] = sumFrame(m_format);
    const std::string sum = sumOf(std::string_view(text).substr(from));
    text.append(before).append(sum).append(behind) += '\n';
}

void SweepLines::appendRow(const SweepRow &row, std::string &text) const
{
    if (m_format == SweepFormat::Csv) {
        text += std::to_string(row.number);
        for (const std::string &value : row.values)
            text += "," + (isNumber(value) ? value : csvField(value));
        text += "," + row.state;
        for (const auto &[name, value] : row.metrics)
            text += value && std::isfinite(*value) ? "," + numberText(*value) : ",";
        text += "," + csvField(row.reason);
        return;
    }
    text += "{\"row\":" + std::to_string(row.number);
    for (std::size_t i = 0; i < row.values.size(); ++i)
        text += "," + m_keys[i] + ":" + asJson(row.values[i]);
    text += ",\"state\":\"" + row.state + "\"";
    for (const auto &[name, value] : row.metrics)
        text += ",\"" + name + "\":" + (value && std::isfinite(*value) ? numberText(*value) : "null");
    text += ",\"reason\":" + (row.reason.empty() ? "null" : dumped(Json(row.reason)));
}

bool saysTheSame(std::string_view line, const SweepRow &row, SweepFormat format)
{
    constexpr double kNear = 1e-9;
    const auto isNear = [](const Metric &one, const Metric &other) {
        return one.has_value() == other.has_value()
            && (!one || std::abs(*one - *other) <= kNear * std::max(std::abs(*one), std::abs(*other)));
    };
    const auto told = [](const Metric &value) { return value && std::isfinite(*value) ? value : Metric(); };
    if (format == SweepFormat::JsonLines) {
        const Json json = Json::parse(line, nullptr, false);
        if (!json.is_object() || !json.contains("state"))
            return false;
        return json["state"] == "refused"
            || (json["state"] == row.state && std::ranges::all_of(row.metrics, [&](const auto &metric) {
                   const auto there = json.find(metric.first);
                   return there != json.end()
                       && isNear(
                           there->is_number() ? Metric(there->template get<double>()) : Metric(), told(metric.second));
               }));
    }
    const auto fields = csvFields(line);
    const std::size_t first = row.values.size() + 2; // behind number, values and state
    if (!fields || fields->size() != first + row.metrics.size() + 2)
        return false;
    const std::string &state = fields->at(first - 1);
    bool isSame = state == "refused" || state == row.state;
    for (std::size_t i = 0; i < row.metrics.size() && isSame && state != "refused"; ++i) {
        const std::string &text = fields->at(first + i);
        Metric value;
        if (isNumber(text))
            value = std::stod(text);
        isSame = isNear(value, told(row.metrics[i].second));
    }
    return isSame;
}

bool isSweepRow(std::string_view line, std::uint64_t number, SweepFormat format)
{
    const std::string_view start = format == SweepFormat::Csv ? "" : "{\"row\":";
    return line.starts_with(std::string(start) + std::to_string(number) + ",") && hasItsSum(line, format);
}

} // namespace trainyard
