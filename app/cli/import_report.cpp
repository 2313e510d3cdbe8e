// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/import_report.h"

#include "core/base/number_text.h"

#include <nlohmann/json.hpp>

namespace trainyard::cli {

namespace {

using Json = nlohmann::ordered_json;
using Lines = std::vector<ImportReport::Line>;

std::string counted(std::size_t count, const char *one, const char *many)
{
    return wholeText(double(count)) + " " + (count == 1 ? one : many);
}

std::string section(const char *heading, const Lines &lines)
{
    if (lines.empty())
        return {};
    std::string text = std::string(heading) + "\n";
    for (const ImportReport::Line &line : lines)
        text += "  " + (line.file.empty() ? "" : line.file + ": ") + line.text + "\n";
    return text;
}

Json listOf(const Lines &lines)
{
    Json list = Json::array();
    for (const ImportReport::Line &line : lines)
        list.push_back({ { "file", line.file.empty() ? Json(nullptr) : Json(line.file) }, { "text", line.text } });
    return list;
}

} // namespace

ImportReport reportOf(const Recording &recording)
{
    ImportReport report;
    for (const RecordedSource &source : recording.sources) {
        if (!source.refused.empty()) {
            report.refused.push_back({ source.file, source.refused });
            continue;
        }
        const std::string amount = source.taken > 0 ? ", " + wholeText(double(source.taken)) + " entries read" : "";
        report.taken.push_back(
            { source.file, nameOf(source.kind) + amount + (source.isTruncated ? "; it ends early" : "") });
        for (const std::string &note : source.notes)
            report.taken.push_back({ source.file, note });
        for (const Dropped &dropped : source.dropped)
            report.ignored.push_back({ source.file, wholeText(double(dropped.count)) + " × " + dropped.reason });
    }
    return report;
}

std::string contentsOf(const Recording &recording)
{
    std::string text;
    const auto add = [&](std::size_t count, const char *one, const char *many) {
        if (count > 0)
            text += (text.empty() ? "" : ", ") + counted(count, one, many);
    };
    add(recording.ranks.size(), "rank", "ranks");
    add(recording.spanCount(), "span", "spans");
    add(recording.series.size(), "series", "series");
    add(recording.benchmarks.size(), "benchmark point", "benchmark points");
    add(recording.arguments.size(), "argument", "arguments");
    add(recording.models.size(), "model", "models");
    std::size_t nodes = 0;
    for (const RecordedNodes &alike : recording.nodes)
        nodes += std::size_t(std::max(alike.count, 0));
    add(nodes, "node", "nodes");
    add(recording.switches.size(), "switch", "switches");
    add(recording.prices.size(), "price", "prices");
    return text;
}

std::string tableOf(const ImportReport &report)
{
    return section("Taken", report.taken) + section("Assumed", report.assumed) + section("Ignored", report.ignored)
        + section("Refused", report.refused) + "Wrote " + report.written
        + (report.wrote.empty() ? "" : ": " + report.wrote) + "\n";
}

std::string jsonOf(const ImportReport &report)
{
    const Json json { { "out", report.written }, { "taken", listOf(report.taken) },
        { "assumed", listOf(report.assumed) }, { "ignored", listOf(report.ignored) },
        { "refused", listOf(report.refused) } };
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace trainyard::cli
