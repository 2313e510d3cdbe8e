// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/import_report.h"

#include "app/cli/json_values_internal.h"
#include "core/base/number_text.h"

#include <map>

namespace trainyard::cli {

namespace {

using Lines = std::vector<ImportReport::Line>;

std::string numbered(std::size_t count, const char *one, const char *many)
{
    return wholeText(double(count)) + " " + (count == 1 ? one : many);
}

std::string shown(const std::vector<const ImportReport::Line *> &alike, bool countsEntries)
{
    const ImportReport::Line &first = *alike.front();
    std::int64_t count = 0;
    for (const ImportReport::Line *line : alike)
        count += line->count;
    const std::string files = alike.size() > 1 ? numbered(alike.size(), "file", "files") : first.file;
    const std::string number = count > 0 ? wholeText(double(count)) : "";
    return "  " + (files.empty() ? "" : files + ": ") + (number.empty() || countsEntries ? "" : number + " × ")
        + first.text + (number.empty() || !countsEntries ? "" : ", " + number + " entries") + "\n";
}

std::string groupedSection(const char *heading, const Lines &lines, bool countsEntries = false)
{
    std::vector<std::vector<const ImportReport::Line *>> groups;
    std::map<std::string_view, std::size_t> groupOf;
    for (const ImportReport::Line &line : lines) {
        const auto [known, isNew] = groupOf.try_emplace(line.text, groups.size());
        if (isNew || line.file.empty())
            groups.emplace_back();
        groups[isNew || line.file.empty() ? groups.size() - 1 : known->second].push_back(&line);
    }
    std::string text = lines.empty() ? "" : std::string(heading) + "\n";
    for (const auto &group : groups)
        text += shown(group, countsEntries);
    return text;
}

Json listOf(const Lines &lines)
{
    Json list = Json::array();
    for (const ImportReport::Line &line : lines) {
        list.push_back({ { "file", line.file.empty() ? Json(nullptr) : Json(line.file) }, { "text", line.text } });
        if (line.count > 0)
            list.back()["count"] = line.count;
    }
    return list;
}

} // namespace

ImportReport reportOf(const Recording &recording)
{
    ImportReport report;
    for (const RecordedSource &source : recording.sources) {
        if (!source.refused.empty()) {
            report.refused.push_back({ source.file, source.refused, 0 });
            continue;
        }
        report.taken.push_back({ source.file,
            std::string(nameOf(source.kind)) + (source.isTruncated ? " that ends early" : ""), source.taken });
        for (const std::string &note : source.notes)
            report.notes.push_back({ source.file, note, 0 });
        for (const Dropped &dropped : source.dropped)
            report.ignored.push_back({ source.file, dropped.reason, dropped.count });
    }
    return report;
}

std::string contentsOf(const Recording &recording)
{
    std::string text;
    const auto add = [&](std::size_t count, const char *one, const char *many) {
        if (count > 0)
            text += (text.empty() ? "" : ", ") + numbered(count, one, many);
    };
    add(recording.ranks.size(), "rank", "ranks");
    add(recording.spanCount(), "span", "spans");
    add(recording.series.size(), "series", "series");
    add(recording.benchmarks.size(), "benchmark point", "benchmark points");
    add(recording.kernels.size(), "kernel timed alone", "kernels timed alone");
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
    return groupedSection("Taken", report.taken, true) + groupedSection("Notes", report.notes)
        + groupedSection("Plan", report.planned) + groupedSection("Assumed", report.assumed)
        + groupedSection("Not understood", report.notUnderstood) + groupedSection("Ignored", report.ignored)
        + groupedSection("Refused", report.refused) + "Wrote " + report.written
        + (report.wrote.empty() ? "" : ": " + report.wrote) + "\n";
}

std::string jsonOf(const ImportReport &report)
{
    const Json json { { "out", report.written }, { "taken", listOf(report.taken) }, { "notes", listOf(report.notes) },
        { "plan", listOf(report.planned) }, { "assumed", listOf(report.assumed) },
        { "not_understood", listOf(report.notUnderstood) }, { "ignored", listOf(report.ignored) },
        { "refused", listOf(report.refused) } };
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace trainyard::cli
