// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/differences.h"

#include "core/base/number_text.h"
#include "core/runs/overlay/job_stages.h"
#include "core/runs/overlay/log_timers.h"
#include "core/runs/overlay/plan_notes.h"
#include "core/runs/overlay/span_index.h"
#include "core/runs/overlay/verdict_part.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainyard {

namespace {

constexpr std::array kNames { "Compute", "Exposed communication", "Bubble", "Waiting for stragglers", "Host",
    "Untold" };

struct PlanPart {
    double Breakdown::*part;
    DifferenceKind kind;
};
constexpr std::array<PlanPart, kBreakdownParts.size()> kPlanParts { { { &Breakdown::compute, DifferenceKind::Compute },
    { &Breakdown::optimizer, DifferenceKind::Compute },
    { &Breakdown::tensorParallel, DifferenceKind::ExposedCommunication },
    { &Breakdown::contextParallel, DifferenceKind::ExposedCommunication },
    { &Breakdown::expertParallel, DifferenceKind::ExposedCommunication },
    { &Breakdown::dataParallel, DifferenceKind::ExposedCommunication },
    { &Breakdown::pipeline, DifferenceKind::ExposedCommunication },
    { &Breakdown::wan, DifferenceKind::ExposedCommunication },
    { &Breakdown::offloadStall, DifferenceKind::ExposedCommunication }, { &Breakdown::bubble, DifferenceKind::Bubble },
    { &Breakdown::overhead, DifferenceKind::Host } } };

constexpr std::size_t rowOf(DifferenceKind kind)
{
    return static_cast<std::size_t>(kind);
}

/// One side of the table.
struct Side {
    SecondsByKind seconds {};
    std::array<bool, kDifferenceKindCount> isTold {};
    int ranks = 0;
    std::string name;
    std::vector<std::string> notes;
};

Side sideOf(const Evaluation &plan)
{
    using enum DifferenceKind;
    Side side;
    side.name = "plan";
    side.isTold.fill(plan.metrics.breakdown.has_value());
    side.isTold[rowOf(Untold)] = true;
    if (plan.metrics.breakdown)
        side.seconds = secondsByKind(*plan.metrics.breakdown);
    else
        side.seconds[rowOf(Untold)] = plan.metrics.iterationTime.value_or(0);
    return side;
}

/// Of a column: the middle of a long name is left out.
std::string briefly(const std::string &name)
{
    constexpr std::size_t kMost = 32, kStart = 18, kEnd = 12;
    if (name.size() <= kMost)
        return name;
    const auto isInside = [&](std::size_t at) { return (static_cast<unsigned char>(name[at]) & 0xc0) == 0x80; };
    std::size_t start = kStart, end = name.size() - kEnd; // not within a character
    while (start > 0 && isInside(start))
        --start;
    while (end < name.size() && isInside(end))
        ++end;
    return name.substr(0, start) + "…" + name.substr(end);
}

/// The last so many parts of a path.
std::string endOf(std::string_view path, int parts)
{
    while (path.ends_with('/'))
        path.remove_suffix(1);
    std::size_t from = path.size();
    for (int i = 0; i < parts && from != path.npos && from > 0; ++i)
        from = path.rfind('/', from - 1);
    return std::string(path.substr(from == path.npos ? 0 : std::min(from + 1, path.size())));
}

/// Its own name, else that of its file or of the folder that all of its files are in; of that the last `parts`.
std::string nameOfRun(const Recording &recording, int parts)
{
    if (!recording.name.empty())
        return recording.name;
    if (recording.sources.empty())
        return "the run";
    std::string_view common = recording.sources.front().file;
    for (const RecordedSource &source : recording.sources)
        while (!source.file.starts_with(common)
            || (source.file.size() > common.size() && source.file[common.size()] != '/' && !common.ends_with('/'))) {
            const std::size_t slash = common.substr(0, std::max<std::size_t>(common.size(), 1) - 1).rfind('/');
            if (slash == common.npos)
                return endOf(recording.sources.front().file, parts) + " and "
                    + std::to_string(recording.sources.size() - 1) + " more";
            common = common.substr(0, slash + 1);
        }
    return endOf(common, parts);
}

void noteRanks(const Run &run, const std::vector<RankStep> &shares, Side &side)
{
    const int world = worldSizeOf(*run.recording);
    if (world > static_cast<int>(shares.size()))
        side.notes.push_back(
            "Mean over the " + std::to_string(shares.size()) + " recorded of " + std::to_string(world) + " ranks");
    if (shares.size() == 1 && run.spans->hasCollectives())
        side.notes.push_back("One rank alone does not tell waiting from moving data: its collectives count as exposed "
                             "communication, whole");
    else if (run.spans->hasCollectives() && run.collectives.empty())
        side.notes.push_back("No collective was matched over ranks: all of each counts as exposed communication, with "
                             "the waiting in it");
}

void readSpans(const Run &run, const RunStep &step, const std::vector<RankStep> &shares, Side &side)
{
    side.isTold.fill(true);
    side.ranks = static_cast<int>(shares.size());
    for (const RankStep &one : shares) {
        const SecondsByKind seconds = secondsByKind(one.shares);
        for (std::size_t kind = 0; kind < seconds.size(); ++kind)
            side.seconds[kind] += seconds[kind] / side.ranks;
    }
    noteRanks(run, shares, side);
    const double shown = std::accumulate(side.seconds.begin(), side.seconds.end(), 0.0);
    const double ratio = shown > 0 && step.seconds > 0 ? step.seconds / shown : 1;
    if (std::abs(ratio - 1) <= kSameStep) // so that a step has one time everywhere
        for (double &part : side.seconds)
            part *= ratio;
    else if (step.isOfLog)
        side.notes.push_back("The log says that the step took " + secondsText(step.seconds)
            + "; the table takes the spans apart, which show " + secondsText(shown));
}

void readLog(const Run &run, const RunStep &step, Side &side)
{
    using enum DifferenceKind;
    LogTimers timers = logTimers(*run.recording, step);
    side.seconds[rowOf(Compute)] = timers.compute.value_or(0);
    side.seconds[rowOf(ExposedCommunication)] = timers.communication.value_or(0);
    side.seconds[rowOf(Bubble)] = timers.bubble.value_or(0);
    side.seconds[rowOf(Host)] = timers.host.value_or(0);
    side.seconds[rowOf(Untold)] = step.seconds - timers.sum();
    side.isTold[rowOf(Compute)] = timers.compute.has_value();
    side.isTold[rowOf(ExposedCommunication)] = timers.communication.has_value();
    side.isTold[rowOf(Bubble)] = timers.bubble.has_value();
    side.isTold[rowOf(Host)] = timers.host.has_value();
    side.isTold[rowOf(Untold)] = true;
    side.notes = std::move(timers.notes);
}

Side sideOf(const Run &run, const RunStep &step, const std::vector<RankStep> &shares, int nameParts = 1)
{
    Side side;
    if (!shares.empty())
        readSpans(run, step, shares, side);
    else
        readLog(run, step, side);
    side.name = "step " + std::to_string(step.number) + " of " + briefly(nameOfRun(*run.recording, nameParts));
    return side;
}

/// `job`: where both are of different jobs, told before all.
DifferenceTable tableOf(Side reference, Side measured, std::vector<std::string> job)
{
    DifferenceTable table;
    table.notes = std::move(job);
    for (int i = 0; i < kDifferenceKindCount; ++i) {
        const auto k = static_cast<std::size_t>(i);
        table.rows[k] = { static_cast<DifferenceKind>(i), reference.seconds[k], measured.seconds[k],
            reference.isTold[k], measured.isTold[k] };
        table.referenceSeconds += reference.seconds[k];
        table.measuredSeconds += measured.seconds[k];
    }
    table.ranks = measured.ranks;
    table.referenceName = std::move(reference.name);
    table.measuredName = std::move(measured.name);
    for (std::string &note : reference.notes)
        table.notes.push_back(table.referenceName + ": " + std::move(note));
    for (std::string &note : measured.notes)
        table.notes.push_back(std::move(note));
    return table;
}

} // namespace

const char *nameOf(DifferenceKind kind)
{
    return kNames[rowOf(kind)];
}

SecondsByKind secondsByKind(const Breakdown &parts)
{
    SecondsByKind seconds {};
    for (const PlanPart &part : kPlanParts)
        seconds[rowOf(part.kind)] += parts.*part.part;
    return seconds;
}

SecondsByKind secondsByKind(const TimeShares &shares)
{
    using enum DifferenceKind;
    SecondsByKind seconds {};
    seconds[rowOf(Compute)] = shares.compute;
    seconds[rowOf(ExposedCommunication)] = shares.communication;
    seconds[rowOf(Bubble)] = shares.bubble;
    seconds[rowOf(Stragglers)] = shares.stragglers;
    seconds[rowOf(Host)] = shares.host;
    return seconds;
}

int planStages(const Evaluation &plan)
{
    return plan.layout.classes.empty() ? 0 : static_cast<int>(plan.layout.classes.front().locations.size());
}

DifferenceTable differences(
    const Evaluation *plan, const Run &run, const RunStep &step, const std::vector<RankStep> &shares)
{
    DifferenceTable table = tableOf(plan ? sideOf(*plan) : Side(), sideOf(run, step, shares),
        plan ? jobNotes(*plan, *run.recording) : std::vector<std::string>());
    if (plan && plan->plan)
        table.otherJob = workDifferences(*plan, *run.recording);
    return table;
}

DifferenceTable differences(const Evaluation &plan, const Run &run, const RunStep &step)
{
    return differences(&plan, run, step, sharesOf(run, step, planStages(plan)));
}

DifferenceTable differences(const Run &run, const RunStep &step)
{
    return differences(nullptr, run, step, sharesOf(run, step));
}

DifferenceTable differences(const Run &reference, const RunStep &referenceStep, const Run &run, const RunStep &step)
{
    const bool isAlike = nameOfRun(*reference.recording, 1) == nameOfRun(*run.recording, 1);
    const int parts = isAlike ? 2 : 1; // "monday/rank0.json" beside "tuesday/rank0.json"
    return tableOf(sideOf(reference, referenceStep, sharesOf(reference, referenceStep), parts),
        sideOf(run, step, sharesOf(run, step), parts), jobNotes(*reference.recording, *run.recording));
}

} // namespace trainyard
