// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/search/search_report.h"

#include "core/base/number_text.h"
#include "core/base/text_table.h"
#include "core/base/words.h"
#include "core/facts/plan/plan_diff.h"
#include "core/planner/search/objective.h"
#include "core/planner/search/shortfall.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr std::size_t kMostReasons = 8; // that a table tells

std::string valueText(Objective objective, const SearchRow &row)
{
    switch (objective) {
    case Objective::Throughput:
        return countText(1 / row.value) + " tokens/s";
    case Objective::Cost:
        return usdText(row.value) + " per 1M tokens";
    case Objective::Energy:
        return plainText(row.value) + " J per token";
    case Objective::Time:
        return plainText(row.value) + " days";
    case Objective::Gpus:
        break;
    }
    return counted(std::int64_t(row.value), "GPU");
}

/// "Kinds of GPUs: A100, then V100" of each axis in which the candidates are not all alike.
std::vector<std::string> axesThatDiffer(
    const SearchSpace &space, const Candidate &of, const std::vector<Candidate> &others)
{
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < of.size(); ++i)
        if (std::ranges::any_of(others, [&](const Candidate &other) { return other[i] != of[i]; }))
            texts.push_back(space.axes()[i].label + ": " + space.axes()[i].values[of[i]].text);
    return texts;
}

/// A table of rows: columns that say nothing of any of them are left out.
class Rows {
public:
    explicit Rows(const SearchResult &result)
        : m_result(result)
        , m_isRobust(!result.scenarios.empty())
        , m_namesWorld(m_isRobust && result.robustness == Robustness::WorstCase)
    {
        if (result.own)
            m_rows.emplace_back("yours", *result.own);
        for (std::size_t i = 0; i < result.best.size(); ++i)
            if (result.best[i] != result.own)
                m_rows.emplace_back(std::to_string(i + 1), result.best[i]);
        if (result.nearest && result.nearest != result.own)
            m_rows.emplace_back("nearest", *result.nearest);
        if (!hasJobs(*result.space->base()) && result.objective != Objective::Time)
            m_trainingTokens = result.space->base()->workload.trainingTokens.value_or(0);
        m_hasIdle = std::ranges::any_of(m_rows, [&](const auto &one) {
            const SearchRow &row = result.rows[one.second];
            return row.clusterUsdPerHour > row.usdPerHour * 1.0005;
        });
    }

    [[nodiscard]] std::string text() const
    {
        using enum TextTable::Align;
        std::vector<std::string> heading { "",
            m_namesWorld     ? "in its worst world"
                : m_isRobust ? "mean of all worlds"
                             : "best first" };
        if (m_namesWorld)
            heading.emplace_back("which is");
        heading.insert(heading.end(), { "iteration", "per hour", "per 1M tokens" });
        if (m_hasIdle)
            heading.insert(heading.end(), { "all GPUs per hour", "per 1M tokens" });
        if (m_trainingTokens > 0)
            heading.emplace_back("days");
        heading.insert(heading.end(), { "memory", "GPUs", "" });
        std::vector<TextTable::Align> align(heading.size(), Right);
        align.back() = Left;
        TextTable table(align, heading);
        for (const auto &[rank, index] : m_rows)
            table.add(cells(rank, m_result.rows[index]));
        std::string text = table.text();
        if (m_isRobust)
            text += m_namesWorld
                ? "The first figure is that of the world where it is worst; all others are of the plan's own world.\n"
                : "The first figure is the mean of all worlds by weight; all others are of the plan's own world.\n";
        text += m_result.asked && m_result.asked->keepsIdle
            ? "Money is that of the whole cluster, idle GPUs too, as evaluate counts: the plan is written with them.\n"
            : m_hasIdle
            ? "Money per hour and per 1M tokens is that of the plan without its idle nodes, as it is written; then of "
              "all GPUs of the cluster, which --keep-idle keeps.\n"
            : "Money is that of the plan's cluster, with egress, as evaluate counts.\n";
        return text;
    }

private:
    [[nodiscard]] std::vector<std::string> cells(const std::string &rank, const SearchRow &row) const
    {
        const bool isTimed = row.seconds > 0;
        const auto timed = [&](const std::string &text) { return isTimed ? text : std::string(); };
        const auto usd = [&](double value) { // lanes time a candidate and may not know what it costs
            return isTimed && (value > 0 || row.joulesPerToken > 0) ? usdText(value) : std::string();
        };
        std::vector<std::string> cells { rank, row.value > 0 ? timed(valueText(m_result.objective, row)) : "" };
        if (m_namesWorld)
            cells.push_back(timed(worstWorld(m_result, row)));
        cells.insert(
            cells.end(), { timed(secondsText(row.seconds)), usd(row.usdPerHour), usd(row.usdPerMillionTokens) });
        if (m_hasIdle)
            cells.insert(cells.end(), { usd(row.clusterUsdPerHour), usd(row.clusterUsdPerMillionTokens) });
        if (m_trainingTokens > 0)
            cells.push_back(
                timed(row.tokensPerSecond > 0 ? plainText(m_trainingTokens / row.tokensPerSecond / 86400) : ""));
        cells.insert(cells.end(),
            { row.fill > 0 ? percentText(row.fill) : "", row.gpus > 0 ? std::to_string(row.gpus) : "",
                row.state == RowState::Feasible ? "" : reasonWithNumbers(row) });
        return cells;
    }

    const SearchResult &m_result;
    bool m_isRobust, m_namesWorld, m_hasIdle = false;
    double m_trainingTokens = 0; // 0: nobody asks for days, or they are told as it is
    std::vector<std::pair<std::string, std::size_t>> m_rows;
};

std::string writtenText(const WrittenPlan &written)
{
    std::string text = "\nWritten to " + written.path + ": " + counted(written.gpus, "GPU");
    const int idle = written.gpus - written.gpusUsed;
    if (written.dropped > 0)
        text += ", " + std::to_string(written.dropped) + " idle ones dropped";
    if (idle > 0) {
        text += ", of which " + std::to_string(idle) + (idle == 1 ? " idles" : " idle");
        if (written.isTrimmed)
            text += written.kept == 0 ? " in nodes that are used in part"
                                      : ", some in nodes without which it would be another plan";
    }
    text += "; evaluate tells " + usdText(written.usdPerHour) + " per hour, " + usdText(written.usdPerMillionTokens)
        + " per 1M tokens for it\n";
    if (!written.notLaunched.empty())
        text += "No launch script is written of it as it is (export --to slurm): " + joined(written.notLaunched, "; ")
            + '\n';
    return text;
}

std::string leftOut(const std::vector<PruneCount> &pruned, bool isRule, const char *heading)
{
    TextTable table({ TextTable::Align::Right, TextTable::Align::Left });
    std::size_t told = 0, further = 0;
    for (const PruneCount &one : pruned) {
        if (one.isRule != isRule)
            continue;
        if (told++ < kMostReasons)
            table.add({ wholeText(double(one.count)), one.reason });
        else
            ++further;
    }
    if (told == 0)
        return {};
    return std::string("\n") + heading + "\n" + table.text()
        + (further > 0 ? counted(std::int64_t(further), "further reason") + "\n" : "");
}

} // namespace

WrittenPlan writtenPlan(const std::string &path, const Trimmed &made, const Catalogue &catalogue)
{
    WrittenPlan written { .path = path, .gpus = made.plan->cluster.gpus(), .dropped = made.gone, .kept = made.kept };
    if (const auto figures = figuresOf(*made.evaluation, catalogue)) {
        written.gpusUsed = figures->gpus;
        written.usdPerHour = figures->clusterUsdPerHour;
        written.usdPerMillionTokens = figures->clusterUsdPerMillionTokens;
    }
    return written;
}

std::string worstWorld(const SearchResult &result, const SearchRow &row)
{
    if (result.scenarios.empty())
        return {};
    return row.worstScenario >= 0 ? result.scenarios.at(std::size_t(row.worstScenario)) : "as planned";
}

std::vector<std::string> changesOf(const SearchResult &result, std::size_t row)
{
    const Candidate to = result.space->candidate(result.rows[row].number), from = result.space->baseCandidate();
    if (to == from)
        return {};
    std::vector<std::string> sentences = describeDifferences(*result.space->base(), *result.plan(row));
    if (!sentences.empty())
        return sentences;
    for (std::size_t i = 0; i < to.size(); ++i) // as the axes name it
        if (const Axis &axis = result.space->axes()[i]; to[i] != from[i])
            sentences.push_back(axis.label + " " + axis.values[from[i]].text + " → " + axis.values[to[i]].text);
    return sentences;
}

std::vector<std::vector<std::string>> changesOf(const SearchResult &result, const std::vector<std::size_t> &rows)
{
    std::vector<std::vector<std::string>> all;
    for (const std::size_t row : rows)
        all.push_back(changesOf(result, row));
    const auto told = all;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::vector<Candidate> alike;
        for (std::size_t other = 0; other < rows.size(); ++other)
            if (other != i && told[other] == told[i])
                alike.push_back(result.space->candidate(result.rows[rows[other]].number));
        for (std::string &text :
            axesThatDiffer(*result.space, result.space->candidate(result.rows[rows[i]].number), alike))
            all[i].push_back(std::move(text));
    }
    return all;
}

std::string searchTable(const SearchResult &result, const WrittenPlan *written)
{
    std::string summary = result.summary;
    if (!summary.empty() && summary.front() >= 'a' && summary.front() <= 'z')
        summary.front() = char(summary.front() - 'a' + 'A');
    std::string text = summary + "; " + secondsText(result.elapsed) + "\n\n" + Rows(result).text();
    const auto changes = changesOf(result, result.best);
    for (std::size_t i = 0; i < result.best.size(); ++i)
        if (result.best[i] != result.own)
            text += "\n" + std::to_string(i + 1) + ". " + joined(changes[i], "; ") + "\n";
    if (result.nearest && result.nearest != result.own)
        text += "\nThe nearest: " + joined(changesOf(result, *result.nearest), "; ") + "\n";
    if (written)
        text += writtenText(*written);
    return text + leftOut(result.pruned, false, "Left out, of those looked at")
        + leftOut(result.pruned, true, "Not looked at: values that do not go together")
        + (result.software.empty() ? "" : "\n" + result.software + ".\n");
}

} // namespace trainyard
