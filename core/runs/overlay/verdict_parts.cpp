// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/verdict_parts.h"

#include "core/base/number_text.h"
#include "core/runs/overlay/communication_kind.h"
#include "core/runs/overlay/differences.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace trainyard {

namespace {

using Kind = CommunicationKind;

constexpr std::size_t kMostStepsTakenApart = 12;
constexpr double kMostUntold = 0.2; // of the communication whose kind is known
constexpr double kLittle = 0.005; // of the step

constexpr std::size_t indexOf(Kind kind)
{
    return static_cast<std::size_t>(kind);
}

/// Mean over the ranks and steps.
struct SpanFigures {
    double compute = 0, bubble = 0, stragglers = 0, host = 0;
    std::array<double, kCommunicationKinds> moved {};
    std::array<std::map<std::string, double>, kCommunicationKinds> operations; // seconds
    std::array<std::set<std::uint32_t>, kCommunicationKinds> groups;
    std::array<double, kCommunicationKinds> moreOfLast {}; // of the rank that waits least, beyond the mean
    int steps = 0, ranks = 0;
};

std::array<double, kCommunicationKinds> movedOf(const RankStep &rank, const RunOverlay &overlay, const RankMap &map)
{
    std::array<double, kCommunicationKinds> moved {};
    for (const ExposedPart &part : rank.exposed)
        moved[indexOf(communicationKind(part, *overlay.run->recording, map, *overlay.evaluation->plan))] +=
            part.seconds;
    return moved;
}

void addFigures(
    const RunOverlay &overlay, const RankMap &map, const std::vector<RankStep> &shares, SpanFigures &figures)
{
    const Recording &recording = *overlay.run->recording;
    const double n = static_cast<double>(shares.size());
    std::array<double, kCommunicationKinds> mean {};
    for (const RankStep &one : shares) {
        figures.compute += one.shares.compute / n;
        figures.bubble += one.shares.bubble / n;
        figures.stragglers += one.shares.stragglers / n;
        figures.host += one.shares.host / n;
        for (const ExposedPart &part : one.exposed) {
            const std::size_t k = indexOf(communicationKind(part, recording, map, *overlay.evaluation->plan));
            mean[k] += part.seconds / n;
            if (part.operation < recording.names.size())
                figures.operations[k][recording.names[part.operation]] += part.seconds / n;
            if (part.group != kNoIndex)
                figures.groups[k].insert(part.group);
        }
    }
    const auto last = std::ranges::min_element(shares, {}, [](const RankStep &one) { return one.shares.stragglers; });
    const auto ofLast = movedOf(*last, overlay, map);
    for (std::size_t k = 0; k < mean.size(); ++k) {
        figures.moved[k] += mean[k];
        figures.moreOfLast[k] += ofLast[k] - mean[k];
    }
    ++figures.steps;
    figures.ranks = std::max(figures.ranks, static_cast<int>(shares.size()));
}

SpanFigures figuresOf(const RunOverlay &overlay, const std::vector<const RunStep *> &steps)
{
    const RankMap map(*overlay.evaluation->plan, overlay.evaluation->layout, overlay.order);
    const int stages = planStages(*overlay.evaluation);
    SpanFigures figures;
    const std::size_t every = (steps.size() + kMostStepsTakenApart - 1) / kMostStepsTakenApart;
    for (std::size_t i = 0; i < steps.size(); i += every)
        if (const auto shares = sharesOf(*overlay.run, *steps[i], stages); !shares.empty())
            addFigures(overlay, map, shares, figures);
    if (figures.steps == 0)
        return figures;
    const double n = figures.steps;
    for (double *value : { &figures.compute, &figures.bubble, &figures.stragglers, &figures.host })
        *value /= n;
    for (std::size_t k = 0; k < figures.moved.size(); ++k) {
        figures.moved[k] /= n;
        figures.moreOfLast[k] /= n;
    }
    return figures;
}

/// "all-reduce and reduce-scatter", those that take most first; `usual` where none is told.
std::string operationsText(const std::map<std::string, double> &operations, const char *usual)
{
    std::vector<std::pair<double, std::string>> sorted;
    double sum = 0;
    for (const auto &[name, seconds] : operations) {
        sorted.emplace_back(seconds, name);
        sum += seconds;
    }
    std::ranges::sort(sorted, std::greater());
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(sorted.size(), 2); ++i)
        if (i == 0 || sorted[i].first > 0.1 * sum)
            text += (i > 0 ? " and " : "") + sorted[i].second;
    std::ranges::replace(text, '_', '-');
    return text.empty() ? usual : text;
}

std::string counted(const SpanFigures &figures)
{
    return (figures.steps == 1 ? "one step" : "mean of " + std::to_string(figures.steps) + " steps") + " on "
        + (figures.ranks == 1 ? "one rank" : std::to_string(figures.ranks) + " ranks");
}

struct KindOfPart {
    Kind kind;
    VerdictKind verdict;
    const char *usual, *serves;
};
constexpr std::array kKinds {
    KindOfPart { Kind::Tensor, VerdictKind::Tensor, "all-reduce", " of tensor parallelism" },
    KindOfPart { Kind::Context, VerdictKind::Context, "exchange", " of context parallelism" },
    KindOfPart { Kind::Expert, VerdictKind::Expert, "all-to-all", " of experts" },
    KindOfPart { Kind::Gradients, VerdictKind::Gradients, "all-reduce", " of gradients" },
};

double plannedSeconds(const Breakdown &plan, Kind kind)
{
    switch (kind) {
    case Kind::Tensor:
        return plan.tensorParallel;
    case Kind::Context:
        return plan.contextParallel;
    case Kind::Expert:
        return plan.expertParallel;
    case Kind::Gradients:
        return plan.dataParallel;
    case Kind::Pipeline:
        return plan.pipeline + plan.wan;
    case Kind::Copies:
        return plan.offloadStall;
    case Kind::Other:
        return 0;
    }
    return 0;
}

/// Where a link is slow and no rank is, the others wait for those behind that link: their waiting is that exchange's.
struct Waiting {
    Kind kind = Kind::Other;
    double seconds = 0;
};
Waiting waitingForLink(const RunOverlay &overlay, const SpanFigures &figures)
{
    const auto most = std::ranges::max_element(figures.moreOfLast);
    const auto kind = static_cast<Kind>(most - figures.moreOfLast.begin());
    if (overlay.suspects.links.empty() || !overlay.suspects.stragglers.empty() || *most <= 0 || kind == Kind::Other
        || kind == Kind::Copies)
        return {};
    return { kind, std::min(figures.stragglers, *most) };
}

class SpanParts {
public:
    SpanParts(const RunOverlay &overlay, const SpanFigures &figures, const Breakdown &plan, TakenApart &taken)
        : m_figures(figures)
        , m_plan(plan)
        , m_taken(taken)
        , m_waiting(waitingForLink(overlay, figures))
    {
    }

    void make()
    {
        const std::string of = counted(m_figures);
        add(VerdictKind::Compute, "compute", m_plan.compute + m_plan.optimizer, m_figures.compute,
            "kernels, optimizer included, " + of);
        addCommunication(of);
        add(VerdictKind::Copies, "copies to and from the host", m_plan.offloadStall,
            m_figures.moved[indexOf(Kind::Copies)], "memory copies under which nothing computes, " + of);
        add(VerdictKind::Bubble, "bubble", m_plan.bubble, m_figures.bubble,
            "nothing to do, or waiting in a transfer for another stage, " + of);
        add(VerdictKind::Stragglers, "waiting for stragglers", 0, m_figures.stragglers - m_waiting.seconds,
            "in collectives before their last rank enters, " + of);
        add(VerdictKind::Host, "host", m_plan.overhead, m_figures.host,
            "nothing runs since the host has launched nothing, " + of);
    }

private:
    void addCommunication(const std::string &of)
    {
        double known = 0, moved = 0;
        for (std::size_t k = 0; k < m_figures.moved.size(); ++k)
            if (k != indexOf(Kind::Copies)) {
                moved += m_figures.moved[k];
                known += k == indexOf(Kind::Other) ? 0 : m_figures.moved[k];
            }
        const double other = moved - known;
        if (other > kMostUntold * moved && other > kLittle * m_plan.total()) {
            m_taken.notes.push_back(
                "Groups of ranks are not told, or are none of the plan's: communication is one part");
            double predicted = 0;
            for (std::size_t k = 0; k < m_figures.moved.size(); ++k)
                predicted += k == indexOf(Kind::Copies) ? 0 : plannedSeconds(m_plan, static_cast<Kind>(k));
            return add(VerdictKind::Communication, "exposed communication", predicted, moved + m_waiting.seconds,
                "collectives and transfers under which nothing computes, " + of + waited(m_waiting.seconds));
        }
        for (const KindOfPart &one : kKinds)
            addKind(one.kind, one.verdict,
                "exposed " + operationsText(m_figures.operations[indexOf(one.kind)], one.usual) + one.serves, of);
        addKind(Kind::Pipeline, VerdictKind::Pipeline, "exposed transfers between stages", of);
        add(VerdictKind::Communication, "other collectives", 0, m_figures.moved[indexOf(Kind::Other)],
            "exposed, of groups that are not told or that the plan does not have, " + of);
    }

    void addKind(Kind kind, VerdictKind verdict, std::string what, const std::string &of)
    {
        const double waiting = m_waiting.kind == kind ? m_waiting.seconds : 0;
        const std::size_t groups = m_figures.groups[indexOf(kind)].size();
        add(verdict, std::move(what), plannedSeconds(m_plan, kind), m_figures.moved[indexOf(kind)] + waiting,
            (groups == 0 && m_figures.moved[indexOf(kind)] > 0 ? "groups that are not told, "
                    : groups == 0                              ? "none was exposed, "
                    : groups == 1                              ? "one group, "
                                                               : std::to_string(groups) + " groups, ")
                + of + waited(waiting));
    }

    [[nodiscard]] static std::string waited(double seconds)
    {
        return seconds > 0 ? "; with " + secondsText(seconds) + " in which others wait for those behind a slow link"
                           : std::string();
    }

    void add(VerdictKind kind, std::string what, double predicted, double measured, std::string evidence)
    {
        if (predicted != 0 || measured != 0)
            m_taken.parts.push_back({ kind, { std::move(what), predicted, measured, std::move(evidence) } });
    }

    const SpanFigures &m_figures;
    const Breakdown &m_plan;
    TakenApart &m_taken;
    Waiting m_waiting;
};

} // namespace

std::vector<const RunStep *> countedSteps(const Run &run, bool withSpans)
{
    std::vector<const RunStep *> all, counted;
    for (const RunStep &step : run.steps) {
        if (withSpans && !step.hasSpans())
            continue;
        all.push_back(&step);
        if (!step.isWarmUp && !step.isOutlier)
            counted.push_back(&step);
    }
    return counted.empty() ? all : counted;
}

std::string stepsText(int steps)
{
    return steps == 1 ? "one step" : "median of " + std::to_string(steps) + " steps";
}

namespace {

/// The steps that were taken apart are some of those that count, and their mean is not quite the median of all, which
/// is what a step of the run takes everywhere.
void fitToMedian(double seconds, TakenApart &taken)
{
    double sum = 0;
    for (const TakenPart &one : taken.parts)
        sum += one.part.measured;
    if (sum > 0 && std::abs(seconds / sum - 1) <= kSameStep)
        for (TakenPart &one : taken.parts)
            one.part.measured *= seconds / sum;
}

} // namespace

TakenApart takeApart(const RunOverlay &overlay)
{
    const Breakdown &plan = *overlay.evaluation->metrics.breakdown;
    TakenApart taken;
    const SpanFigures figures =
        overlay.run->spans ? figuresOf(overlay, countedSteps(*overlay.run, true)) : SpanFigures();
    if (figures.steps > 0) {
        taken.steps = figures.steps;
        taken.ranks = figures.ranks;
        SpanParts(overlay, figures, plan, taken).make();
        fitToMedian(overlay.run->medianSeconds, taken);
    } else {
        takeTimersApart(overlay, plan, taken);
    }
    std::ranges::stable_sort(taken.parts,
        [](const TakenPart &a, const TakenPart &b) { return std::abs(a.difference()) > std::abs(b.difference()); });
    for (const TakenPart &one : taken.parts) {
        taken.predicted += one.part.predicted;
        taken.measured += one.part.measured;
    }
    return taken;
}

} // namespace trainyard
