// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/because.h"

#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/evaluation/evaluate/metrics/breakdown_entries.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kNoChange = 0.0005; // of the iteration, or of the memory of a GPU
constexpr std::size_t kMostReasons = 2;
constexpr double kBoundMoves = 0.005; // of the bound of all jobs, or of the time of GPUs

/// "6.98 → 3.10 s": the unit once where both have it.
std::string fromTo(double before, double after)
{
    std::string from = secondsText(before);
    const std::string to = secondsText(after);
    const std::size_t space = from.find(' ');
    if (before > 0 && space != std::string::npos && to.ends_with(from.substr(space)))
        from.resize(space);
    return (before > 0 ? from : "0") + " \u2192 " + (after > 0 ? to : "0");
}

std::string groupedCount(int count, const char *thing)
{
    return wholeText(count) + " " + thing + (count == 1 ? "" : "s");
}

const StageMemory *fullest(const Metrics &metrics)
{
    if (!metrics.memory)
        return nullptr;
    const auto found = std::ranges::find(metrics.memory->perStage, metrics.memory->fullestStage, &StageMemory::stage);
    return found == metrics.memory->perStage.end() ? nullptr : &*found;
}

/// "+12.0 GB activations": what the fullest GPU has more of, or less; empty where nothing moves by a thousandth of its
/// memory.
std::string largestBytes(const Metrics &before, const Metrics &after, bool grown)
{
    const StageMemory *a = fullest(before), *b = fullest(after);
    if (!a || !b)
        return {};
    struct Part {
        const char *name;
        std::int64_t before, after;
    };
    const std::array<Part, 6> parts { { { "weights", a->weights, b->weights },
        { "gradients", a->gradients, b->gradients }, { "optimizer states", a->optimizer, b->optimizer },
        { "activations", a->activations, b->activations }, { "buffers", a->buffers, b->buffers },
        { "allocator reserve", a->device - a->peak, b->device - b->peak } } };
    const auto change = [grown](
                            const Part &part) { return grown ? part.after - part.before : part.before - part.after; };
    const auto most = std::ranges::max_element(parts, {}, change);
    if (double(change(*most)) < kNoChange * double(std::max<std::int64_t>(1, b->capacity)))
        return {};
    return (grown ? "+" : "\u2212") + bytesText(double(change(*most))) + " " + most->name;
}

std::string uncapitalized(std::string text)
{
    if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
        text[0] = char(std::tolower(static_cast<unsigned char>(text[0])));
    return text;
}

/// The first problem that keeps the plan from running.
std::string obstacle(const Evaluation &evaluation)
{
    const auto blocking = std::ranges::find(evaluation.problems, Severity::Blocking, &Problem::severity);
    return blocking == evaluation.problems.end() ? std::string("cannot be placed") : uncapitalized(blocking->text);
}

std::string memoryReason(const Metrics &before, const Metrics &after)
{
    if (!before.memory || !after.memory || before.memory->fits == after.memory->fits)
        return {};
    const std::string bytes = largestBytes(before, after, before.memory->fits);
    return (after.memory->fits ? "fits" : "does not fit") + (bytes.empty() ? std::string() : ": " + bytes);
}

std::string replicasReason(const Layout &before, const Layout &after)
{
    if (before.data == after.data)
        return {};
    return groupedCount(after.data, "replica") + " instead of " + wholeText(before.data);
}

/// 1: the iteration takes longer, −1: it is shorter, 0: as long.
int directionOf(const Metrics &before, const Metrics &after)
{
    const double change = *after.iterationTime - *before.iterationTime;
    return std::abs(change) < kNoChange * *before.iterationTime ? 0 : change > 0 ? 1 : -1;
}

std::string idleReason(const Metrics &before, const Metrics &after)
{
    const int was = before.gpusTotal - before.gpusUsed, is = after.gpusTotal - after.gpusUsed;
    if (was == is || (is - was) * directionOf(before, after) < 0)
        return {};
    return is == 0 ? std::string("no GPU idle")
                   : groupedCount(is, "GPU") + " idle" + (was > 0 ? " instead of " + wholeText(was) : "");
}

/// The busiest link of the plan before, where what bound it does so no more.
std::string wanReason(const Metrics &before, const Metrics &after)
{
    const WanLinkUse *busiest = busiestLink(before);
    if (!busiest || busiest->limit == WanLimit::None || directionOf(before, after) > 0)
        return {};
    const auto now = std::ranges::find(after.wanLinks, busiest->link, &WanLinkUse::link);
    if (after.wanBytesPerIteration <= 0)
        return "nothing crosses the WAN";
    if (now == after.wanLinks.end() || now->limit == busiest->limit || now->limit == WanLimit::None)
        return {};
    return std::string(toString(busiest->limit)) + " no longer binds";
}

/// The part of the iteration that moved most the way that the iteration moved.
std::string timeReason(const Metrics &before, const Metrics &after)
{
    if (!before.breakdown || !after.breakdown || !before.iterationTime || !after.iterationTime)
        return {};
    const double change = *after.iterationTime - *before.iterationTime;
    const std::vector<BreakdownEntry> was = breakdownEntries(*before.breakdown),
                                      is = breakdownEntries(*after.breakdown);
    std::size_t most = 0;
    const auto along = [&](std::size_t i) { return std::copysign(1.0, change) * (is[i].seconds - was[i].seconds); };
    for (std::size_t i = 1; i < is.size(); ++i)
        most = along(i) > along(most) ? i : most;
    if (directionOf(before, after) == 0 || along(most) <= 0)
        return {};
    return std::string(is[most].label) + " " + fromTo(was[most].seconds, is[most].seconds);
}

/// What bounds all jobs, where that moved, and how busy GPUs are.
std::string jobsReason(const JobMetrics &before, const JobMetrics &after)
{
    if (!after.makespan)
        return "no job runs";
    std::string text;
    if (before.bound && after.bound && std::abs(*after.bound - *before.bound) > kBoundMoves * *before.bound)
        text = "bound " + fromTo(*before.bound, *after.bound);
    if (before.gpuUtilization && after.gpuUtilization
        && std::abs(*after.gpuUtilization - *before.gpuUtilization) > kBoundMoves)
        text += (text.empty() ? "" : "; ")
            + formatted("GPUs at work %.0f \u2192 %.0f %%", *before.gpuUtilization * 100, *after.gpuUtilization * 100);
    return text;
}

} // namespace

std::string because(const Evaluation &before, const Evaluation &after)
{
    if (before.metrics.jobs && after.metrics.jobs)
        return jobsReason(*before.metrics.jobs, *after.metrics.jobs);
    if (!after.metrics.iterationTime)
        return obstacle(after);
    if (!before.metrics.iterationTime)
        return before.layout.data == 0 && after.layout.data > 0
            ? "can be placed: " + groupedCount(after.layout.data, "replica")
            : std::string("can run");
    std::string text;
    std::size_t reasons = 0;
    const auto add = [&](const std::string &reason) {
        if (reason.empty() || reasons == kMostReasons)
            return;
        text += (text.empty() ? "" : "; ") + reason;
        ++reasons;
    };
    add(memoryReason(before.metrics, after.metrics));
    add(timeReason(before.metrics, after.metrics));
    add(replicasReason(before.layout, after.layout));
    add(idleReason(before.metrics, after.metrics));
    add(wanReason(before.metrics, after.metrics));
    if (text.empty()) {
        const std::string more = largestBytes(before.metrics, after.metrics, true),
                          less = largestBytes(before.metrics, after.metrics, false);
        text = less.empty() ? more : less;
    }
    return text;
}

} // namespace trainyard
