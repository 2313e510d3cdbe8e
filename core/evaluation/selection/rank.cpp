// SPDX-License-Identifier: GPL-3.0-or-later
// Order, front and remarks: all from the simulated values.
#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/evaluation/evaluate/metrics/breakdown_entries.h"
#include "core/evaluation/selection/candidates_internal.h"

#include <algorithm>
#include <limits>

namespace trainyard::selecting {

namespace {

constexpr int kMostRemarks = 2; // each a sentence; clusters of thirty datacenters would fill a page

std::string rounded(double value)
{
    return formatted(value < 1 ? "%.2g" : "%.3g", value);
}

std::string throughputText(const SelectionOption &option)
{
    return rounded(option.sequencesPerSecond) + " sequences/s";
}

std::string valueText(const SelectionOption &option, SelectionObjective objective)
{
    return objective == SelectionObjective::Cost
        ? "$" + rounded(option.usdPerMillionTokens) + " per million tokens of the GPUs that it uses"
        : throughputText(option);
}

void markFront(std::vector<SelectionOption> &options)
{
    for (SelectionOption &a : options) {
        a.isOnFront = a.isFeasible && std::ranges::none_of(options, [&](const SelectionOption &b) {
            const bool isNoWorse =
                b.sequencesPerSecond >= a.sequencesPerSecond && b.usdPerMillionTokens <= a.usdPerMillionTokens;
            const bool isBetter =
                b.sequencesPerSecond > a.sequencesPerSecond || b.usdPerMillionTokens < a.usdPerMillionTokens;
            return b.isFeasible && isNoWorse && isBetter;
        });
    }
}

int bestBy(const std::vector<SelectionOption> &options, auto isBetter)
{
    int best = -1;
    for (int i = 0; i < int(options.size()); ++i)
        if (options[std::size_t(i)].isFeasible
            && (best < 0 || isBetter(options[std::size_t(i)], options[std::size_t(best)])))
            best = i;
    return best;
}

/// On the same datacenters in the same order, hardly slower and hardly dearer, if at all.
bool isAsGood(const SelectionOption &a, const SelectionOption &b)
{
    constexpr double kHardly = 1.1;
    const auto isSameSite = [](const DatacenterBlock &x, const DatacenterBlock &y) {
        return x.datacenter == y.datacenter;
    };
    return std::ranges::equal(a.blocks, b.blocks, isSameSite) && kHardly * a.sequencesPerSecond > b.sequencesPerSecond
        && a.usdPerMillionTokens < kHardly * b.usdPerMillionTokens;
}

/// An option stays where none before it is as good; so does what is best by either measure, or in use.
void thin(std::vector<SelectionOption> &options, int fastest, int cheapest)
{
    std::vector<SelectionOption> kept;
    for (int i = 0; i < int(options.size()); ++i) {
        SelectionOption &option = options[std::size_t(i)];
        const bool isKnown = std::ranges::any_of(kept, [&](const SelectionOption &better) {
            return better.isFeasible == option.isFeasible && isAsGood(better, option);
        });
        if (!isKnown || option.isCurrent || i == fastest || i == cheapest)
            kept.push_back(std::move(option));
    }
    options = std::move(kept);
}

/// The name of a GPU of the datacenter that is slower than every one that the best option uses; empty where none is.
std::string slowerGpu(int datacenter, const SelectionOption &best, const Requested &asked)
{
    const Precision precision = asked.plan->workload.precision;
    const auto flopsOf = [&](int site, auto choose, double from) {
        for (const auto *gpu : asked.gpus[std::size_t(site)])
            from = choose(from, gpu->peakFlops(precision));
        return from;
    };
    double slowest = std::numeric_limits<double>::infinity();
    for (const DatacenterBlock &block : best.blocks)
        slowest = flopsOf(
            block.datacenter, [](double a, double b) { return std::min(a, b); }, slowest);
    for (const auto *gpu : asked.gpus[std::size_t(datacenter)])
        if (gpu->peakFlops(precision) < slowest)
            return gpu->name;
    return {};
}

/// "compute takes 12.0 s instead of 8.00 s: its A100 SXM 80 GB are slower": the part of the iteration that grows most;
/// empty where it is not known, or none does.
std::string grownPart(int datacenter, const SelectionOption &with, const SelectionOption &best, const Requested &asked)
{
    if (!with.breakdown || !best.breakdown || !(with.seconds > best.seconds))
        return {};
    const std::vector<BreakdownEntry> is = breakdownEntries(*with.breakdown), was = breakdownEntries(*best.breakdown);
    std::size_t most = 0;
    for (std::size_t i = 1; i < is.size(); ++i)
        most = is[i].seconds - was[i].seconds > is[most].seconds - was[most].seconds ? i : most;
    std::string text = std::string(is[most].label) + " takes " + secondsText(is[most].seconds) + " instead of "
        + secondsText(was[most].seconds);
    const std::string gpu = slowerGpu(datacenter, best, asked);
    return is[most].part == &Breakdown::compute && !gpu.empty() ? text + ": its " + gpu + " are slower" : text;
}

/// Why the option with the datacenter is no better, by what differs between them.
std::string whyNot(int datacenter, const SelectionOption &with, const SelectionOption &best, const Selection &selection,
    const Requested &asked, int locations)
{
    if (selection.objective == SelectionObjective::Cost) {
        const double dearer = with.usdPerMillionTokens - best.usdPerMillionTokens,
                     egress = with.egressUsdPerMillionTokens() - best.egressUsdPerMillionTokens();
        if (egress > dearer / 2)
            return "$" + rounded(egress) + " of the difference is egress";
        if (!(with.seconds > best.seconds))
            return "its GPUs cost more than the time that they save";
    }
    const std::string wait = with.bound == Bound::Link ? "each micro-batch waits for the link"
        : with.bound == Bound::InFlight                ? "the way across leaves too few micro-batches in flight"
                                                       : "";
    if (with.data() == best.data()) {
        if (const std::string grown = grownPart(datacenter, with, best, asked); !grown.empty())
            return grown + (wait.empty() ? "" : "; " + wait);
        return wait.empty() ? "as many replicas train, and none faster" : wait;
    }
    const std::string replicas = counted(with.data(), "replica") + " instead of " + std::to_string(best.data());
    if (with.data() < best.data())
        return locations < best.data() ? "it holds no stage of more than " + counted(locations, "replica")
                + ", the best has " + std::to_string(best.data())
                                       : "it has " + replicas;
    return "for its " + replicas + ", "
        + (wait.empty() ? "there are only " + std::to_string(with.microBatches) + " micro-batches each" : wait);
}

/// One sentence on a datacenter that the best option leaves out.
std::string remarkOn(
    int datacenter, const SelectionOption &best, const Selection &selection, const Requested &asked, int cell)
{
    const Datacenter &site = asked.plan->cluster.datacenters[std::size_t(datacenter)];
    if (site.gpus() == 0)
        return {};
    const Degrees &p = asked.degrees;
    const SelectionOption *with = nullptr;
    for (const SelectionOption &option : selection.options) // best first; alone it would not be added
        if (!with && option.isFeasible && option.blocks.size() > 1 && uses(option, datacenter))
            with = &option;
    const std::string opening = "Adding " + site.label() + " does not help: ";
    if (with) {
        const std::string text = opening + "the best option with it that was simulated, "
            + blocksText(with->blocks, asked.plan->cluster) + ", reaches " + valueText(*with, selection.objective)
            + " against " + valueText(best, selection.objective);
        return text + ": " + whyNot(datacenter, *with, best, selection, asked, LocationBook(asked).capacity(datacenter))
            + ".";
    }
    if (LocationBook(asked).capacity(datacenter) < cell)
        return opening + "its " + std::to_string(site.gpus()) + (site.gpus() == 1 ? " GPU holds" : " GPUs hold")
            + " no stage: the smallest, one cell of " + counted(cell, "replica") + ", needs "
            + std::to_string(cell * p.tensor * p.context) + ".";
    return selection.isProven ? opening + "no option has it beside others." : std::string {};
}

} // namespace

void rank(Selection &selection, const Requested &asked, int cell)
{
    auto &options = selection.options;
    markFront(options);
    const auto faster = [](const SelectionOption &a, const SelectionOption &b) {
        return a.sequencesPerSecond != b.sequencesPerSecond ? a.sequencesPerSecond > b.sequencesPerSecond
                                                            : a.usdPerMillionTokens < b.usdPerMillionTokens;
    };
    const auto cheaper = [](const SelectionOption &a, const SelectionOption &b) {
        return a.usdPerMillionTokens != b.usdPerMillionTokens ? a.usdPerMillionTokens < b.usdPerMillionTokens
                                                              : a.sequencesPerSecond > b.sequencesPerSecond;
    };
    const bool byCost = selection.objective == SelectionObjective::Cost;
    std::ranges::stable_sort(options, [&](const SelectionOption &a, const SelectionOption &b) {
        return a.isFeasible != b.isFeasible ? a.isFeasible : byCost ? cheaper(a, b) : faster(a, b);
    });
    thin(options, bestBy(options, faster), bestBy(options, cheaper));
    selection.bestThroughput = bestBy(options, faster);
    selection.bestCost = bestBy(options, cheaper);
    const auto now = std::ranges::find(options, true, &SelectionOption::isCurrent);
    selection.current = now == options.end() ? -1 : int(now - options.begin());
    const int best = byCost ? selection.bestCost : selection.bestThroughput;
    if (best < 0 || options[std::size_t(best)].blocks.empty())
        return;
    int said = 0;
    for (int d = 0; d < int(asked.plan->cluster.datacenters.size()); ++d) {
        if (uses(options[std::size_t(best)], d))
            continue;
        std::string text = remarkOn(d, options[std::size_t(best)], selection, asked, cell);
        if (!text.empty() && ++said <= kMostRemarks)
            selection.remarks.push_back(std::move(text));
    }
    if (said > kMostRemarks)
        selection.remarks.push_back(
            "Nor was an option with one of " + std::to_string(said - kMostRemarks) + " further datacenters better.");
}

} // namespace trainyard::selecting
