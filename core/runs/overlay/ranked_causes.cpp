// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/ranked_causes.h"

#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/runs/overlay/expert_loads.h"
#include "core/runs/overlay/network_causes.h"
#include "core/runs/overlay/planned_times.h"
#include "core/runs/overlay/rank_speeds.h"
#include "core/runs/overlay/suspects.h"
#include "core/runs/overlay/work_of_ranks.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <ranges>
#include <set>

namespace trainyard {

namespace {

constexpr double kLeastCost = 0.015;
constexpr std::size_t kMostOfAKind = 16; // each costs a replay
constexpr double kSlowerRank = 1.02;
constexpr double kSlowerThanPlan = 1.04; // less is what a model leaves open

/// Median clock of a GPU over the median of all others'; 1: not told.
double clockRatio(const Recording &recording, int rank)
{
    std::vector<double> others;
    double own = 0;
    for (const SampleSeries &series : recording.series) {
        if (series.name != samples::kSmClock || series.rank < 0)
            continue;
        std::vector<double> values;
        std::ranges::copy_if(series.value, std::back_inserter(values), [](double value) { return value > 0; });
        if (const double clock = medianOf(std::move(values)); clock > 0 && series.rank == rank)
            own = clock;
        else if (clock > 0)
            others.push_back(clock);
    }
    return own > 0 && !others.empty() ? own / medianOf(std::move(others)) : 1;
}

class CauseRanking {
public:
    CauseRanking(const Run &run, const RankMap &map, const Evaluation &evaluation, const Catalogue &catalogue)
        : m_run(run)
        , m_map(map)
        , m_evaluation(evaluation)
        , m_replay(run)
        , m_step(m_replay.seconds())
        , m_planned(plannedTimes(evaluation, catalogue))
    {
    }

    std::vector<RankedCause> make()
    {
        if (!(m_step > 0))
            return {};
        const ExpertLoads loads = expertLoads(m_run, m_replay);
        m_speeds = rankSpeeds(m_run, m_map, m_replay, loads.isExpert);
        addRanks();
        addStages();
        addLinks();
        addHost();
        addExperts(loads);
        std::ranges::stable_sort(m_causes, std::greater {}, &RankedCause::seconds);
        return std::move(m_causes);
    }

private:
    [[nodiscard]] double saved(const ReplayChange &change) const { return m_step - m_replay.seconds(change); }

    void add(RankedCause cause, const ReplayChange &change, std::string sentence)
    {
        cause.seconds = saved(change);
        if (cause.seconds < kLeastCost * m_step)
            return;
        cause.sentence = std::move(sentence) + ": a step would take " + secondsText(cause.seconds) + " less, "
            + percentText(cause.seconds / m_step) + " of it, by a replay of the measured steps";
        m_causes.push_back(std::move(cause));
    }

    [[nodiscard]] ReplayChange computing(auto &&factorOf) const
    {
        ReplayChange change;
        for (const ReplayWork &work : m_replay.works())
            change.duration.push_back(work.work == RecordedWork::Compute
                    ? std::llround(static_cast<double>(work.duration) / factorOf(work))
                    : work.duration);
        return change;
    }

    [[nodiscard]] int numberOf(std::uint32_t index) const { return m_run.recording->ranks[index].rank; }
    [[nodiscard]] bool isPlaced(std::uint32_t index) const
    {
        return numberOf(index) >= 0 && numberOf(index) < m_map.worldSize();
    }

    void addRanks()
    {
        std::vector<double> errors;
        for (const RankSpeed &one : m_speeds)
            errors.push_back(one.error);
        const double error = medianOf(std::move(errors));
        std::vector<const RankSpeed *> slow;
        for (const RankSpeed &one : m_speeds)
            if (one.likes > 0 && one.ratios.size() > 1 && one.ratio >= kSlowerRank
                && one.ratio - 1 >= kSureErrors * std::max(error, 1e-4)) {
                m_slow.insert(one.index);
                slow.push_back(&one);
            }
        std::ranges::stable_sort(
            slow, std::greater {}, [](const RankSpeed *one) { return (one->ratio - 1) * one->seconds; });
        slow.resize(std::min(slow.size(), kMostOfAKind));
        for (const RankSpeed *found : slow) {
            const RankSpeed &one = *found;
            const ReplayChange change = computing([&](const ReplayWork &work) {
                return work.rank == one.index ? std::max(1.0, one.ratios[static_cast<std::size_t>(work.step)]) : 1.0;
            });
            const int rank = numberOf(one.index);
            const double clock = clockRatio(*m_run.recording, rank);
            const bool isThrottled = 1 / clock - 1 > 0.5 * (one.ratio - 1);
            RankedCause cause {
                .kind = isThrottled ? CauseKind::Throttling : CauseKind::SlowRank, .rank = rank, .ratio = one.ratio
            };
            std::string text = "Rank " + std::to_string(rank);
            if (isPlaced(one.index)) {
                const RankPlace place = m_map.placeOf(rank);
                cause.stage = place.stage;
                text += " (stage " + std::to_string(place.stage + 1) + ", pipeline " + std::to_string(place.replica + 1)
                    + ")";
            }
            text += " computes " + percentText(one.ratio - 1) + " longer than ranks like it";
            if (isThrottled)
                text += ", and its clock is " + percentText(1 - clock)
                    + " below the others': power or temperature holds it down. Were it as fast";
            else
                text += ". Were it as fast";
            add(std::move(cause), change, std::move(text));
        }
    }

    struct OfStage {
        std::vector<double> all, healthy;
        [[nodiscard]] double ratio() const { return medianOf(healthy.empty() ? all : healthy); }
    };

    /// Measured over planned computing of each stage, of ranks that are no slower than their likes where there are any.
    [[nodiscard]] std::map<int, double> stageRatios() const
    {
        std::map<int, OfStage> stages;
        for (const RankSpeed &one : m_speeds) {
            const PlannedStage *stage =
                isPlaced(one.index) ? m_planned->of(m_map.placeOf(numberOf(one.index)), m_evaluation) : nullptr;
            if (!stage || !(stage->compute > 0))
                continue;
            OfStage &own = stages[m_map.placeOf(numberOf(one.index)).stage];
            own.all.push_back(one.seconds / stage->compute);
            if (!m_slow.contains(one.index))
                own.healthy.push_back(own.all.back());
        }
        std::map<int, double> ratios;
        for (const auto &[stage, own] : stages)
            ratios[stage] = own.ratio();
        return ratios;
    }

    void addStages()
    {
        if (!m_planned)
            return;
        const std::map<int, double> ratios = stageRatios();
        const auto othersOf = [&](int without) {
            std::vector<double> others;
            for (const auto &[stage, ratio] : ratios)
                if (stage != without)
                    others.push_back(ratio);
            return medianOf(std::move(others));
        };
        std::vector<double> usual;
        for (const auto &[stage, ratio] : ratios) {
            const double beside = ratios.size() > 1 ? ratio / othersOf(stage) : 1;
            if (beside < kSlowerThanPlan) {
                usual.push_back(ratio);
                continue;
            }
            const ReplayChange change = computing([&](const ReplayWork &work) {
                return isPlaced(work.rank) && m_map.placeOf(numberOf(work.rank)).stage == stage ? beside : 1.0;
            });
            add({ .kind = CauseKind::SlowStage, .stage = stage, .ratio = beside }, change,
                "Stage " + std::to_string(stage + 1) + " computes " + percentText(beside - 1)
                    + " longer than the plan has it beside the other stages. Were it as fast as they are");
        }
        const double all = medianOf(std::move(usual));
        if (all < kSlowerThanPlan)
            return;
        add({ .kind = CauseKind::OptimisticPlan, .ratio = all }, computing([&](const ReplayWork &) { return all; }),
            "All ranks compute " + percentText(all - 1)
                + " longer than the plan has it, alike: the plan's figures of the GPU or of the model are not the "
                  "run's, and calibration learns them. Did they compute as planned");
    }

    void addLinks()
    {
        for (SlowExchanges &one : slowLinkExchanges(m_run, m_map, m_replay, m_evaluation))
            add({ .kind = CauseKind::SlowLink, .where = one.where, .ratio = one.ratio }, { std::move(one.mended), {} },
                "The link of " + one.where + " takes " + percentText(one.ratio - 1)
                    + " longer for the same bytes than it should. Were it as fast as others");
        if (!m_planned)
            return;
        if (auto slow = slowFabric(m_run, m_map, m_replay, m_evaluation, *m_planned))
            add({ .kind = CauseKind::CongestedFabric, .where = slow->where, .ratio = slow->ratio },
                { std::move(slow->mended), {} },
                "All exchanges between nodes (" + slow->where + ") take " + percentText(slow->ratio - 1)
                    + " longer than the plan has them: the fabric is congested, or slower than the plan says. Were it "
                      "as planned");
    }

    void addHost()
    {
        std::map<std::uint32_t, double> byRank; // seconds of a step
        const double steps = static_cast<double>(m_replay.steps().size());
        for (const ReplayWork &work : m_replay.works())
            byRank[work.rank] += static_cast<double>(work.host) * 1e-9 / steps;
        const std::vector<int> like = likesOf(m_run, m_map);
        std::map<int, std::vector<double>> likes;
        for (const auto &[rank, seconds] : byRank)
            likes[like[rank]].push_back(seconds);
        std::map<int, double> usual;
        for (const auto &[of, all] : likes)
            usual[of] = medianOf(all);
        const double planned = m_planned ? m_planned->overhead : 0;
        const auto mended = [&](auto &&keptOf) { // seconds that a rank still waits for its host
            ReplayChange change;
            for (const ReplayWork &work : m_replay.works()) {
                const double own = byRank[work.rank], kept = own > 0 ? std::min(1.0, keptOf(work.rank) / own) : 1;
                change.gap.push_back(work.gap - std::llround(static_cast<double>(work.host) * (1 - kept)));
            }
            return change;
        };
        const auto isAlone = [&](std::uint32_t rank) { // its own host is slow
            const double beside = usual[like[rank]];
            return byRank[rank] - beside >= kLeastCost * m_step && byRank[rank] > 2 * beside;
        };
        const double most = std::ranges::max(usual | std::views::values);
        if (most > planned)
            add({ .kind = CauseKind::HostBound }, mended([&](std::uint32_t own) {
                return planned + (isAlone(own) ? byRank[own] - usual[like[own]] : 0);
            }),
                "Kernels are launched too late: GPUs wait up to " + secondsText(most)
                    + " a step for their hosts, the plan has " + secondsText(planned)
                    + ". CUDA graphs, larger micro-batches or more workers that read data help. Were they in time");
        std::vector<std::pair<double, std::uint32_t>> alone;
        for (const auto &[rank, seconds] : byRank)
            if (isAlone(rank))
                alone.emplace_back(seconds - usual[like[rank]], rank);
        std::ranges::sort(alone, std::greater {});
        alone.resize(std::min(alone.size(), kMostOfAKind));
        for (const auto &[more, index] : alone) {
            const std::uint32_t rank = index;
            add({ .kind = CauseKind::HostBound, .rank = numberOf(rank) },
                mended([&](std::uint32_t own) { return own == rank ? usual[like[rank]] : byRank[own]; }),
                "Rank " + std::to_string(numberOf(rank)) + " waits " + secondsText(more)
                    + " a step longer for its host than ranks like it do. Did it not");
        }
    }

    void addExperts(const ExpertLoads &loads)
    {
        if (!loads.areUneven())
            return;
        add({ .kind = CauseKind::ExpertImbalance, .ratio = loads.mostOverMean }, { loads.balanced, {} },
            "Experts get unequal numbers of tokens: the rank with the most computes "
                + percentText(loads.mostOverMean - 1)
                + " longer than the mean of its group, and all wait for it. Were they equal");
    }

    const Run &m_run;
    const RankMap &m_map;
    const Evaluation &m_evaluation;
    StepReplay m_replay;
    double m_step = 0; // seconds
    std::optional<PlannedTimes> m_planned;
    std::vector<RankSpeed> m_speeds;
    std::set<std::uint32_t> m_slow;
    std::vector<RankedCause> m_causes;
};

} // namespace

const char *nameOf(CauseKind kind)
{
    switch (kind) {
    case CauseKind::SlowStage:
        return "slow stage";
    case CauseKind::SlowRank:
        return "slow rank";
    case CauseKind::Throttling:
        return "throttling";
    case CauseKind::SlowLink:
        return "slow link";
    case CauseKind::CongestedFabric:
        return "congested fabric";
    case CauseKind::HostBound:
        return "host-bound";
    case CauseKind::ExpertImbalance:
        return "imbalance of experts";
    case CauseKind::OptimisticPlan:
        return "optimistic plan";
    }
    return "";
}

std::vector<RankedCause> rankedCauses(
    const Run &run, const RankMap &map, const Evaluation &evaluation, const Catalogue &catalogue)
{
    return run.recording && evaluation.plan ? CauseRanking(run, map, evaluation, catalogue).make()
                                            : std::vector<RankedCause>();
}

} // namespace trainyard
