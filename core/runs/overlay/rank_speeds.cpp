// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/rank_speeds.h"

#include "core/base/median.h"
#include "core/runs/overlay/median_of_others.h"
#include "core/runs/overlay/work_of_ranks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace trainyard {

namespace {

struct KernelsOfName {
    std::vector<double> all;
    std::vector<std::vector<double>> bySteps;
    double median = 0;
};
using KernelsOfRank = std::map<std::uint32_t, KernelsOfName>;

/// By the names that both have: seconds of one step, and what its likes would take for the same kernels.
double stepRatio(const KernelsOfRank &own, std::size_t step, const std::map<std::uint32_t, double> &usual)
{
    double taken = 0, others = 0;
    for (const auto &[name, of] : own) {
        const auto known = usual.find(name);
        if (known == usual.end() || of.bySteps[step].empty())
            continue;
        const auto count = static_cast<double>(of.bySteps[step].size());
        taken += count * medianOf(of.bySteps[step]);
        others += count * known->second;
    }
    return others > 0 ? taken / others : 1;
}

/// [step][place] seconds of kernels of one name.
using KernelPlaces = std::vector<std::vector<double>>;

/// Median over the steps at each place, so that a wild kernel in a hundred lengthens nothing; where steps have unequal
/// numbers of them, median of their sums.
double typicalSeconds(const KernelPlaces &steps)
{
    const std::size_t places = steps.front().size();
    double sum = 0;
    if (std::ranges::all_of(steps, [&](const auto &step) { return step.size() == places; })) {
        for (std::size_t place = 0; place < places; ++place) {
            std::vector<double> seconds;
            for (const auto &step : steps)
                seconds.push_back(step[place]);
            sum += medianOf(std::move(seconds));
        }
        return sum;
    }
    std::vector<double> sums;
    for (const auto &step : steps)
        sums.push_back(std::accumulate(step.begin(), step.end(), 0.0));
    return medianOf(std::move(sums));
}

} // namespace

std::vector<RankSpeed> rankSpeeds(
    const Run &run, const RankMap &map, const StepReplay &replay, const std::vector<bool> &leftOut)
{
    const std::size_t ranks = run.recording->ranks.size(), steps = replay.steps().size();
    const std::vector<int> like = likesOf(run, map);
    std::vector<KernelsOfRank> names(ranks);
    std::vector<std::map<std::uint32_t, KernelPlaces>> places(ranks);
    for (std::size_t i = 0; i < replay.works().size(); ++i) {
        const ReplayWork &work = replay.works()[i];
        if (work.work != RecordedWork::Compute)
            continue;
        const double took = static_cast<double>(work.duration) * 1e-9;
        const auto step = static_cast<std::size_t>(work.step);
        places[work.rank].try_emplace(work.name, KernelPlaces(steps)).first->second[step].push_back(took);
        if (!leftOut.empty() && leftOut[i])
            continue;
        KernelsOfName &of = names[work.rank][work.name];
        of.bySteps.resize(steps);
        of.bySteps[step].push_back(took);
        of.all.push_back(took);
    }
    for (KernelsOfRank &own : names)
        for (auto &[name, of] : own)
            of.median = medianOf(of.all);
    std::map<int, std::map<std::uint32_t, std::vector<double>>> medians; // by likes and name, sorted
    for (std::uint32_t r = 0; r < ranks; ++r)
        for (const auto &[name, of] : names[r])
            if (like[r] >= 0)
                medians[like[r]][name].push_back(of.median);
    for (auto &[of, byName] : medians)
        for (auto &[name, all] : byName)
            std::ranges::sort(all);
    std::vector<RankSpeed> speeds;
    for (std::uint32_t r = 0; r < ranks; ++r) {
        if (places[r].empty())
            continue;
        RankSpeed &speed = speeds.emplace_back(RankSpeed { .index = r });
        for (const auto &[name, of] : places[r])
            speed.seconds += typicalSeconds(of);
        std::map<std::uint32_t, double> usual;
        for (const auto &[name, of] : names[r])
            if (like[r] >= 0)
                if (const std::vector<double> &all = medians[like[r]][name]; all.size() > 1) {
                    speed.likes = std::max(speed.likes, static_cast<int>(all.size()) - 1);
                    usual[name] = medianOfOthers(all, of.median);
                }
        for (std::size_t step = 0; step < steps; ++step)
            speed.ratios.push_back(stepRatio(names[r], step, usual));
        double sum = 0, squares = 0;
        for (const double ratio : speed.ratios)
            sum += ratio;
        speed.ratio = sum / static_cast<double>(steps);
        for (const double ratio : speed.ratios)
            squares += (ratio - speed.ratio) * (ratio - speed.ratio);
        if (steps > 1)
            speed.error = std::sqrt(squares / static_cast<double>(steps - 1) / static_cast<double>(steps));
    }
    return speeds;
}

} // namespace trainyard
