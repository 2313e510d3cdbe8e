// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/offload/automatic_amount.h"

#include "core/ladder/recompute.h"
#include "core/memory/chunk_memory.h"
#include "core/memory/offload_replay.h"
#include "core/offload/segments.h"
#include "core/timeline/simulator.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

/// Of one stage.
class AutomaticAmount::Search {
public:
    Search(AutomaticAmount &owner, const AmountStage &stage)
        : m_owner(owner), m_stage(stage), m_pipeline(owner.m_costs.iteration.classes[std::size_t(stage.pipelineClass)]),
          m_whole(owner.m_scripts[std::size_t(stage.pipelineClass)][std::size_t(stage.stage)]), m_chunks(chunkMemory(owner.m_work, stage.stage))
    {
        for (const auto &chunk : *stage.modules)
            for (const OffloadModule &module : chunk) {
                ++m_modules;
                if (module.offloadable > 0)
                    m_amounts.push_back(m_modules);
            }
        // What a stage does repeats: the warm-up and a few rounds tell its peak.
        const int chunks = int(stage.modules->size()), few = chunks * (2 * int(std::ceil(stage.inFlight)) + 6);
        if (2 * few < chunks * m_whole.microBatches)
            m_beginning = beginningOf(m_whole, few);
        m_rule.ahead = owner.m_ahead;
    }

    std::optional<AmountChosen> run()
    {
        std::optional<AmountChosen> best;
        double lowest = 0;
        std::size_t last = 0;      // index into m_amounts, past what a shorter look-ahead brings back in time
        for (int ahead = m_owner.m_ahead; ahead <= std::max(m_owner.m_ahead, kFurthest) && last < m_amounts.size(); ++ahead) {
            m_rule.ahead = ahead;
            std::size_t found = m_amounts.size();
            while (found > last && !isInTime(m_amounts[found - 1]))
                --found;
            if (isSpent())
                return {};
            if (found == last)
                continue;
            last = found;
            const auto [amount, peak] = leanest(found);
            if (!best || peak < lowest * (1 - 1e-6)) {
                best = AmountChosen{amount, ahead};
                lowest = peak;
            }
        }
        return isSpent() ? std::nullopt : std::optional(best.value_or(AmountChosen{0, m_owner.m_ahead}));
    }

private:
    static constexpr std::size_t kLook = 8;   // smaller amounts whose peaks are looked at

    [[nodiscard]] bool isSpent() const { return m_owner.m_tasks > kMostTasks; }
    [[nodiscard]] const StageScript &beginning() const { return m_beginning.ops.empty() ? m_whole : m_beginning; }

    /// Also of amounts that no longer count because the search is spent.
    bool isInTime(std::size_t leaving)
    {
        if (isSpent())
            return true;
        const Cut cut = cutFor(leaving);
        if (!m_beginning.ops.empty() && !rehearsed(m_beginning, cut))
            return false;
        return rehearsed(m_whole, cut);
    }

    /// Of the amounts up to the one found, the smallest with the lowest peak: more may leave in vain where drives are slow.
    std::pair<std::size_t, double> leanest(std::size_t found)
    {
        std::pair<std::size_t, double> best{m_amounts[found - 1], peakOf(m_amounts[found - 1])};
        const std::size_t step = std::max<std::size_t>(1, found / kLook);
        for (std::size_t i = found; i > step && !isSpent();) {
            i -= step;
            const double peak = isInTime(m_amounts[i - 1]) ? peakOf(m_amounts[i - 1]) : best.second * 2;
            if (peak <= best.second * (1 + 1e-9))
                best = {m_amounts[i - 1], std::min(peak, best.second)};
            else if (peak > best.second * 1.2)
                break;
        }
        return best;
    }

    struct Cut {
        std::vector<std::vector<OffloadSegment>> segments;
        StageOffload bytes;
    };

    Cut cutFor(std::size_t leaving) const
    {
        const bool isSplit = m_whole.splitsBackward;
        const OffloadPath path{m_stage.store.value, m_stage.load.value, 1, {}, {}};
        Cut cut;
        for (std::size_t c = 0; c < m_stage.modules->size(); ++c) {
            std::vector<OffloadModule> modules = (*m_stage.modules)[c];
            for (OffloadModule &module : modules)
                module.leaves = leaving > 0 && leaving-- > 0 && module.offloadable > 0;
            const std::vector<OffloadPiece> pieces = piecesOf(modules, isSplit, m_owner.m_group);
            auto &bytes = cut.bytes.chunks.emplace_back();
            for (const OffloadPiece &piece : pieces)
                bytes.push_back(piece.bytes);
            cut.segments.push_back(segmentsOf(pieces, m_whole.times[c], path, {isSplit, false}));
        }
        return cut;
    }

    bool rehearsed(const StageScript &script, const Cut &cut, Timeline *timeline = nullptr)
    {
        RehearsalRule rule = m_rule;
        rule.keepsTimeline = timeline != nullptr;
        Rehearsal rehearsal = rehearse(script, cut.segments, rule);
        m_owner.m_tasks += rehearsal.tasks;
        if (timeline)
            *timeline = std::move(rehearsal.timeline);
        return !rehearsal.isLate;
    }

    double peakOf(std::size_t leaving)
    {
        const Cut cut = cutFor(leaving);
        Timeline timeline;
        (void)rehearsed(beginning(), cut, &timeline);
        m_owner.m_tasks += 2 * timeline.spanCount();   // the replay
        for (Track &track : timeline.tracks)
            track.stage = m_stage.stage;
        return heldOverTime(timeline, 0, m_stage.stage, cut.bytes, m_chunks, m_pipeline.program, recomputesAnything(*m_owner.m_work.plan)).peak;
    }

    AutomaticAmount &m_owner;
    const AmountStage &m_stage;
    const PipelineCosts &m_pipeline;
    const StageScript &m_whole;
    StageScript m_beginning;           // empty where the whole is short
    std::vector<ChunkMemory> m_chunks;
    std::size_t m_modules = 0;
    std::vector<std::size_t> m_amounts;   // in modules, those that differ in what leaves
    RehearsalRule m_rule;
};

AutomaticAmount::AutomaticAmount(const Workload &workload, const Costs &costs, int group, int ahead)
    : m_work(workload), m_costs(costs), m_group(group), m_ahead(ahead)
{
    const auto graph = buildPipelineGraph(costs.iteration);
    if (!graph)
        return;
    SimulationWorkspace workspace;
    if (const auto keeping = simulate(*graph, workspace))
        m_scripts = stageScripts(costs.iteration, *keeping);
}

std::optional<AmountChosen> AutomaticAmount::choose(const AmountStage &stage)
{
    if (m_scripts.empty() || m_tasks > kMostTasks)
        return {};
    if (!(stage.store.value > 0) || !(stage.load.value > 0))
        return AmountChosen{0, m_ahead};
    return Search(*this, stage).run();
}

} // namespace trainyard
