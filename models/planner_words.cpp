// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/planner_words.h"

#include "core/base/csv_text.h"
#include "core/facts/plan/plan_diff.h"
#include "core/planner/search/search_front.h"
#include "models/text/duration.h"
#include "models/text/format.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace trainyard {

namespace {

constexpr double kNoGain = 0.0005; // a smaller share is none

QString plannerText(const char *text)
{
    return QCoreApplication::translate("Planner", text);
}

QString withoutFullStop(const std::string &reason)
{
    QString text = QString::fromStdString(reason);
    while (text.endsWith(u'.'))
        text.chop(1);
    return text;
}

/// "it costs more than the budget (17)" of those that can run, by the constraints that they break.
QString brokenMost(const PlanSearch &search, int most)
{
    std::map<std::string, std::uint64_t> counts;
    for (const SearchRow &row : search.rows())
        if (row.state == RowState::OutOfConstraint)
            ++counts[row.reason];
    std::vector<std::pair<std::string, std::uint64_t>> reasons(counts.begin(), counts.end());
    std::ranges::stable_sort(reasons, std::greater {}, [](const auto &reason) { return reason.second; });
    QStringList parts;
    for (const auto &[reason, count] : reasons)
        if (parts.size() < most)
            parts << QStringLiteral("%1 (%2)").arg(withoutFullStop(reason), countText(count));
    return parts.join(QStringLiteral("; "));
}

/// The objective in the plan's own world, of which less is better: of rows that scenarios left out nothing else is
/// known.
double ownValue(Objective objective, const SearchRow &row)
{
    switch (objective) {
    case Objective::Cost:
        return row.usdPerMillionTokens;
    case Objective::Energy:
        return row.joulesPerToken;
    case Objective::Gpus:
        return row.gpus;
    case Objective::Throughput:
    case Objective::Time: // days are tokens over this
        break;
    }
    return row.tokensPerSecond > 0 ? 1 / row.tokensPerSecond : 0;
}

/// "more memory than there is (12,400 candidates)" of what left most out.
QString mostCommon(const PlanSearch &search, int most)
{
    QStringList parts;
    if (const auto &result = search.result())
        for (const PruneCount &pruned : result->pruned) {
            if (parts.size() == most)
                break;
            parts << QStringLiteral("%1 (%2)").arg(withoutFullStop(pruned.reason), countText(pruned.count));
        }
    return parts.join(QStringLiteral("; "));
}

} // namespace

QString reasonText(const std::string &reason)
{
    QString text = withoutFullStop(reason);
    if (!text.isEmpty())
        text[0] = text[0].toUpper();
    return text;
}

QString countText(std::uint64_t number)
{
    return number < 100'000 ? QStringLiteral("%L1").arg(qulonglong(number)) : formatCount(double(number));
}

QString nameOf(Objective objective)
{
    switch (objective) {
    case Objective::Throughput:
        return plannerText("Throughput");
    case Objective::Cost:
        return plannerText("Price per token");
    case Objective::Energy:
        return plannerText("Energy per token");
    case Objective::Time:
        return plannerText("Time to train");
    case Objective::Gpus:
        return plannerText("Fewest GPUs");
    }
    return {};
}

QString meaningOf(Objective objective)
{
    switch (objective) {
    case Objective::Throughput:
        return plannerText("Most tokens per second");
    case Objective::Cost:
        return plannerText("Fewest dollars per million tokens");
    case Objective::Energy:
        return plannerText("Fewest joules per token");
    case Objective::Time:
        return plannerText("Fewest days for all training tokens");
    case Objective::Gpus:
        return plannerText("Fewest GPUs that keep the constraints; of those the fastest");
    }
    return {};
}

QString nameOf(RowState state)
{
    switch (state) {
    case RowState::Feasible:
        return plannerText("feasible");
    case RowState::OutOfConstraint:
        return plannerText("out of constraints");
    case RowState::Infeasible:
        return plannerText("infeasible");
    case RowState::Outdone:
        return plannerText("outdone");
    case RowState::Refused:
        return plannerText("refused");
    }
    return {};
}

QString progressText(const PlanSearch::Progress &progress)
{
    QStringList parts;
    if (progress.total > 0)
        parts << plannerText("%1 of %2 combinations scored").arg(countText(progress.looked), countText(progress.total));
    else
        parts << plannerText("%1 combinations looked at").arg(countText(progress.looked));
    parts << plannerText("%1 simulated").arg(countText(progress.simulated));
    if (progress.left > 0)
        parts << plannerText("%1 left that may be better").arg(countText(progress.left));
    if (progress.seconds > 0.05) {
        parts << plannerText("%1 per second").arg(formatCount(double(progress.looked) / progress.seconds));
        parts << formatDuration(progress.seconds);
    }
    return parts.join(QStringLiteral(" · "));
}

std::optional<double> gainOf(const SearchRow &before, const SearchRow &after)
{
    if (!(before.value > 0) || !(after.value > 0))
        return std::nullopt;
    return 1 - after.value / before.value;
}

QString gainText(Objective objective, double gain)
{
    if (std::abs(gain) < kNoGain)
        return plannerText("no gain");
    const bool isBetter = gain > 0;
    // The value is the inverse of the throughput: saving 8 % of the time is 8.7 % more of it.
    const double share = objective == Objective::Throughput && gain < 1 ? std::abs(1 / (1 - gain) - 1) : std::abs(gain);
    const QString percent = formatPercent(share);
    switch (objective) {
    case Objective::Throughput:
        return (isBetter ? plannerText("%1 faster") : plannerText("%1 slower")).arg(percent);
    case Objective::Cost:
        return (isBetter ? plannerText("%1 cheaper") : plannerText("%1 more expensive")).arg(percent);
    case Objective::Energy:
        return (isBetter ? plannerText("%1 less energy") : plannerText("%1 more energy")).arg(percent);
    case Objective::Time:
        return (isBetter ? plannerText("%1 less time") : plannerText("%1 more time")).arg(percent);
    case Objective::Gpus:
        return (isBetter ? plannerText("%1 fewer GPUs") : plannerText("%1 more GPUs")).arg(percent);
    }
    return percent;
}

QString valueText(Objective objective, double value)
{
    switch (objective) {
    case Objective::Throughput:
        return plannerText("%1 tok/s").arg(formatCount(1 / value));
    case Objective::Cost:
        return plannerText("%1 /Mtok").arg(formatUsd(value));
    case Objective::Energy:
        return plannerText("%1 J per token").arg(QString::number(value, 'g', 3));
    case Objective::Time:
        return plannerText("%1 days").arg(QString::number(value, 'g', 3));
    case Objective::Gpus:
        break;
    }
    return gpusText(int(value)); // the rest of it ranks those of as many
}

QString robustName(const PlanSearch &search)
{
    const SearchOptions &asked = search.asked();
    return search.state() == PlanSearch::State::Empty || asked.scenarios.empty() ? QString()
        : asked.robustness == Robustness::WorstCase                              ? plannerText("Worst case")
                                                                                 : plannerText("Mean of worlds");
}

QString worldText(const PlanSearch &search, const SearchRow &row)
{
    const SearchOptions &asked = search.asked();
    if (robustName(search).isEmpty() || row.state != RowState::Feasible || !(row.value > 0))
        return {};
    const QString value = valueText(asked.objective, row.value);
    if (asked.robustness == Robustness::Expectation)
        return plannerText("Mean of %1 worlds: %2").arg(asked.scenarios.size() + 1).arg(value);
    if (row.worstScenario < 0 || std::size_t(row.worstScenario) >= asked.scenarios.size())
        return plannerText("No scenario is worse than the plan's own world: %1").arg(value);
    const Scenario &worst = asked.scenarios[std::size_t(row.worstScenario)];
    return plannerText("Worst with “%1”: %2").arg(QString::fromStdString(worst.name), value);
}

QString figuresText(const SearchRow &row)
{
    QStringList parts;
    const bool isSimulated = row.tokensPerSecond > 0;
    if (row.seconds > 0)
        parts << (isSimulated ? plannerText("%1 per iteration") : plannerText("at least %1 per iteration"))
                     .arg(formatDuration(row.seconds));
    if (row.usdPerMillionTokens > 0)
        parts << plannerText("%1 per million tokens").arg(formatUsd(row.usdPerMillionTokens));
    if (row.usdPerHour > 0)
        parts << plannerText("%1 per hour").arg(formatUsd(row.usdPerHour));
    if (row.gpus > 0)
        parts << gpusText(row.gpus);
    if (row.fill > 0)
        parts << plannerText("fullest GPU %1").arg(formatPercent(row.fill));
    return parts.join(QStringLiteral(" · "));
}

QStringList differencesText(const Plan &before, const Plan &after, int most)
{
    QStringList lines;
    for (const std::string &difference : describeDifferences(before, after))
        lines << QString::fromStdString(difference);
    if (lines.size() > most) {
        const auto more = lines.size() - (most - 1);
        lines.resize(most - 1);
        lines << plannerText("and %1 more").arg(more);
    }
    return lines;
}

QString bindingText(const PlanSearch &search)
{
    const std::vector<SearchRow> &rows = search.rows();
    if (search.state() != PlanSearch::State::Ended || search.best().empty())
        return {};
    const bool isRobust = !robustName(search).isEmpty(); // rows that are out have values of the own world
    const auto value = [&](const SearchRow &row) { return isRobust ? ownValue(search.objective(), row) : row.value; };
    const double best = value(rows[search.best().front()]);
    const SearchRow *better = nullptr;
    for (const SearchRow &row : rows)
        if (row.state == RowState::OutOfConstraint && value(row) > 0 && (!better || value(row) < value(*better)))
            better = &row;
    if (!better || !(value(*better) < best))
        return {};
    const QString gain = gainText(search.objective(), 1 - value(*better) / best);
    return (isRobust ? plannerText("Binding: a plan that is %1 in the plan's own world was left out: %2.")
                     : plannerText("Binding: a plan that is %1 was left out: %2."))
        .arg(gain,
            better->shortfall.empty() ? withoutFullStop(better->reason)
                                      : plannerText("%1 (%2)").arg(
                                          withoutFullStop(better->reason), QString::fromStdString(better->shortfall)));
}

/// The answer against the plan as it is now, where that is another than the search began with: the best itself once it
/// was adopted.
std::string answerOfNow(const PlanSearch &search)
{
    const SearchResult &result = *search.result();
    const auto own = search.own();
    const std::size_t best = result.best.front();
    const bool isFound = own && own != result.own && *own < result.rows.size(); // else it is none of the rows
    const std::string reach = result.reach.empty() ? std::string() : "; " + result.reach;
    if (isFound && *own == best)
        return "your plan is the best of this search" + reach;
    const auto gain = isFound ? gainOf(result.rows[*own], result.rows[best]) : std::nullopt;
    return gain ? gainText(result.objective, *gain).toStdString() + " than your plan" + reach
                : "against the plan that it began with: " + result.summary;
}

QString resultText(const PlanSearch &search)
{
    switch (search.state()) {
    case PlanSearch::State::Empty:
        return plannerText("The planner tries thousands of settings of this plan by simulation and keeps the best.");
    case PlanSearch::State::Searching:
        return search.isStopping() ? plannerText("Stopping…") : plannerText("Searching…");
    case PlanSearch::State::Refused:
        return plannerText("There is nothing to search: %1.")
            .arg(search.refusals().empty() ? plannerText("no reason is known")
                                           : withoutFullStop(search.refusals().front().what));
    case PlanSearch::State::Ended:
        break;
    }
    if (search.best().empty()) {
        if (const QString broken = brokenMost(search, 2); !broken.isEmpty())
            return plannerText("Nothing feasible: no candidate that can run keeps the constraints: %1.").arg(broken);
        const QString why = mostCommon(search, 2);
        return plannerText("Nothing feasible%1.")
            .arg(why.isEmpty() ? QString() : plannerText(": what left most candidates out is %1").arg(why));
    }
    const SearchResult &result = *search.result();
    QString text = reasonText(search.isOfEarlierPlan() ? answerOfNow(search) : result.summary) + u'.';
    if (result.isStopped && !text.contains(QStringLiteral("stopped"), Qt::CaseInsensitive))
        text = plannerText("Stopped. %1").arg(text);
    if (const QString world = worldText(search, result.rows[result.best.front()]); !world.isEmpty())
        text += QStringLiteral(" %1.").arg(world);
    if (!result.software.empty())
        text += QStringLiteral(" %1.").arg(QString::fromStdString(result.software));
    return text;
}

QString staleText(const PlanSearch &search)
{
    if (search.state() == PlanSearch::State::Searching)
        return search.isOfEarlierPlan() ? plannerText("The plan has been edited since this search began.") : QString();
    if (search.state() == PlanSearch::State::Empty)
        return {};
    if (search.isOfEarlierPlan())
        return plannerText("These results are of an earlier plan. Differences are told against the plan as it is now.");
    if (search.isOfOtherSettings())
        return plannerText("These results are of other settings or pins.");
    return {};
}

QByteArray candidatesCsv(const PlanSearch &search)
{
    const SearchSpace *space = search.space().get();
    std::string text = "number,state,iteration_s,usd_per_million_tokens,usd_per_hour,cluster_usd_per_hour,tokens_per_s,"
                       "joules_per_token,gpus,fullest_gpu,value,worst_scenario,reason";
    for (std::size_t axis = 0; space && axis < space->axes().size(); ++axis)
        text += ',' + csvField(space->axes()[axis].id);
    text += '\n';
    const auto number = [&text](double value) {
        text += ',';
        if (value != 0)
            text += QByteArray::number(value, 'g', 9).toStdString();
    };
    for (const SearchRow &row : search.rows()) {
        text += std::to_string(row.number) + ',' + nameOf(row.state).toStdString();
        for (const double figure : { row.seconds, row.usdPerMillionTokens, row.usdPerHour, row.clusterUsdPerHour,
                 row.tokensPerSecond, row.joulesPerToken, double(row.gpus), row.fill, row.value })
            number(figure);
        const auto &scenarios = search.asked().scenarios;
        const bool isWorse = row.worstScenario >= 0 && std::size_t(row.worstScenario) < scenarios.size();
        text += ',' + (isWorse ? csvField(scenarios[std::size_t(row.worstScenario)].name) : std::string());
        text += ',' + csvField(row.reason);
        if (space) {
            const Candidate candidate = space->candidate(row.number);
            for (std::size_t axis = 0; axis < candidate.size(); ++axis)
                text += ',' + csvField(space->axes()[axis].values[candidate[axis]].text);
        }
        text += '\n';
    }
    return QByteArray::fromStdString(text);
}

std::vector<std::size_t> frontOf(const PlanSearch &search)
{
    return frontOf(search.rows(), search.asked());
}

} // namespace trainyard
