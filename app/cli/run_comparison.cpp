// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_comparison.h"

#include "app/cli/json_values_internal.h"
#include "app/cli/run_sources.h"
#include "app/cli/run_text.h"
#include "core/base/number_text.h"
#include "core/base/text_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trainyard::cli {

namespace {

constexpr std::size_t kMostSteps = 24; // rows of a table; JSON has all

/// "exposed_communication" of "Exposed communication".
std::string idOf(DifferenceKind kind)
{
    std::string id = nameOf(kind);
    for (char &c : id)
        c = c == ' ' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return id;
}

std::string differenceTable(const DifferenceTable &table, bool isOfRuns)
{
    using enum TextTable::Align;
    TextTable text({ Left, Right, Right, Right },
        { "kind of work", (isOfRuns ? "reference: " : "") + table.referenceName,
            (isOfRuns ? "run: " : "") + table.measuredName, isOfRuns ? "run − reference" : "run − plan" });
    for (const DifferenceRow &row : table.rows) {
        if (row.kind == DifferenceKind::Untold && row.reference == 0 && row.measured == 0)
            continue;
        text.add({ nameOf(row.kind), row.isReferenceTold ? secondsText(row.reference) : "–",
            row.isMeasuredTold ? secondsText(row.measured) : "–",
            row.isReferenceTold && row.isMeasuredTold ? signedSeconds(row.difference()) : "–" });
    }
    text.add({ "Step", secondsText(table.referenceSeconds), secondsText(table.measuredSeconds),
        signedSeconds(table.measuredSeconds - table.referenceSeconds) });
    return text.text();
}

std::string remarkOf(const RunOverlay &overlay, std::size_t index)
{
    const RunStep &step = overlay.run->steps[index];
    std::string remark = int(index) == overlay.step ? "compared" : "";
    const auto add = [&](bool holds, const char *what) {
        if (holds)
            remark += std::string(remark.empty() ? "" : ", ") + what;
    };
    add(step.isWarmUp, "warm-up");
    add(step.isOutlier, "outlier");
    return remark;
}

std::string stepTable(const RunOverlay &overlay)
{
    using enum TextTable::Align;
    const std::vector<RunStep> &steps = overlay.run->steps;
    TextTable text({ Right, Right, Right, Left }, { "step", "time", "ranks", "" });
    for (std::size_t i = 0; i < std::min(steps.size(), kMostSteps); ++i)
        text.add({ std::to_string(steps[i].number), secondsText(steps[i].seconds),
            steps[i].hasSpans() ? std::to_string(steps[i].ranks.size()) : "–", remarkOf(overlay, i) });
    std::string all = text.text();
    if (steps.size() > kMostSteps)
        all += "and " + std::to_string(steps.size() - kMostSteps) + " more steps; --format json has all\n";
    return all + "Median " + secondsText(overlay.run->medianSeconds) + "\n";
}

/// Of the overlay, of its run, of its differences: each once.
std::vector<std::string> notesOf(const RunOverlay &overlay)
{
    std::vector<std::string> notes;
    std::vector<std::string> sources = notesOfSources(*overlay.run->recording);
    if (overlay.reference)
        for (std::string &note : notesOfSources(*overlay.reference->recording))
            sources.push_back("Reference: " + std::move(note));
    for (const auto *list :
        { &std::as_const(sources), &overlay.notes, &overlay.run->notes, &overlay.differences.notes })
        for (const std::string &note : *list)
            if (std::ranges::find(notes, note) == notes.end())
                notes.push_back(note);
    return notes;
}

Json told(bool isTold, double value)
{
    return isTold && std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json differencesJson(const DifferenceTable &table)
{
    Json rows = Json::array();
    for (const DifferenceRow &row : table.rows)
        rows.push_back({ { "kind", idOf(row.kind) }, { "reference_s", told(row.isReferenceTold, row.reference) },
            { "measured_s", told(row.isMeasuredTold, row.measured) },
            { "difference_s", told(row.isReferenceTold && row.isMeasuredTold, row.difference()) } });
    return rows;
}

Json stepsJson(const Run &run)
{
    Json steps = Json::array();
    for (const RunStep &step : run.steps)
        steps.push_back({ { "step", step.number }, { "time_s", told(true, step.seconds) },
            { "ranks", step.hasSpans() ? Json(step.ranks.size()) : Json(nullptr) }, { "warm_up", step.isWarmUp },
            { "outlier", step.isOutlier } });
    return steps;
}

Json clockJson(const Run &run)
{
    Json refused = Json::array();
    for (const ClockFit &fit : run.alignment.ranks)
        if (!fit.refused.empty() && fit.rank < run.recording->ranks.size())
            refused.push_back({ { "rank", run.recording->ranks[fit.rank].rank }, { "reason", fit.refused } });
    return { { "residual_ns", told(run.alignment.islands > 0, run.alignment.residual) },
        { "islands", run.alignment.islands }, { "refused", refused } };
}

} // namespace

std::string comparisonTableOf(const RunOverlay &overlay)
{
    std::vector<std::string> stragglers, links;
    for (const Straggler &straggler : overlay.suspects.stragglers)
        stragglers.push_back(straggler.sentence);
    for (const SlowLink &link : overlay.suspects.links)
        links.push_back(link.sentence);
    std::vector<std::string> missing;
    if (!overlay.missingRanks.empty())
        missing.push_back(std::to_string(overlay.missingRanks.size()) + " of the plan's ranks, the first is "
            + std::to_string(overlay.missingRanks.front()));
    return differenceTable(overlay.differences, overlay.reference != nullptr) + "\n" + stepTable(overlay)
        + section("Stragglers", stragglers) + section("Slow links", links) + section("Not recorded", missing)
        + section("Notes", notesOf(overlay));
}

std::string comparisonJsonOf(const RunOverlay &overlay)
{
    const DifferenceTable &table = overlay.differences;
    Json json { { "reference", table.referenceName }, { "measured", table.measuredName },
        { "step", overlay.run->steps[std::size_t(overlay.step)].number }, { "ranks", table.ranks },
        { "reference_s", told(true, table.referenceSeconds) }, { "measured_s", told(true, table.measuredSeconds) },
        { "difference_s", told(true, table.measuredSeconds - table.referenceSeconds) },
        { "differences", differencesJson(table) }, { "median_s", told(true, overlay.run->medianSeconds) },
        { "steps", stepsJson(*overlay.run) } };
    json["stragglers"] = Json::array();
    for (const Straggler &one : overlay.suspects.stragglers)
        json["stragglers"].push_back({ { "rank", one.rank }, { "share_last", told(true, one.shareLast) },
            { "late_s", told(true, one.lateSeconds) }, { "compute_ratio", told(true, one.computeRatio) },
            { "sentence", one.sentence } });
    json["slow_links"] = Json::array();
    for (const SlowLink &link : overlay.suspects.links)
        json["slow_links"].push_back(
            { { "between", link.between }, { "bus_bytes_per_s", told(true, link.busBytesPerSecond) },
                { "expected_bytes_per_s", told(link.expected > 0, link.expected) }, { "sentence", link.sentence } });
    json["missing_ranks"] = overlay.missingRanks;
    json["clocks"] = clockJson(*overlay.run);
    json["notes"] = notesOf(overlay);
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace trainyard::cli
