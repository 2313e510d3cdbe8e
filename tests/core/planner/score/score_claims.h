#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a score claims of a candidate, held against run(Depth::Score) and run(Depth::Estimate) of its plan.

#include "core/planner/score/scorer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <string>

namespace trainyard::test {

struct ClaimCounts {
    int looked = 0, refused = 0, tooLarge = 0, open = 0, exact = 0, feasible = 0, workKnown = 0;
    std::vector<double> tightness; // of open candidates: leastSeconds / iteration
    std::vector<double> computing; // of bounds of computing that are known: of what is computed
    std::string broken; // a line each; empty: all claims hold

    [[nodiscard]] double quantile(double share)
    {
        std::ranges::sort(tightness);
        return tightness.empty() ? 0 : tightness[std::size_t(share * double(tightness.size() - 1))];
    }
};

class ClaimCheck {
public:
    ClaimCheck(const SearchSpace &space, ClaimCounts &counts)
        : m_space(space)
        , m_counts(counts)
    {
    }

    void check(const Candidate &candidate, const Score &score, const LeastWork &work, const std::string &why)
    {
        m_candidate = &candidate;
        ++m_counts.looked;
        const PlanPtr plan = m_space.plan(candidate);
        const auto ran = run(plan, Depth::Score,
            { .catalogue = builtinCatalogue(), .workspace = m_workspace, .replicas = OpenReplicas::Most });
        const bool isFeasible = ran && (*ran)->feasibility.all();
        m_counts.feasible += isFeasible;
        if (score.state == ScoreState::Refused) {
            ++m_counts.refused;
            expect(!isFeasible, "refused, and runs: " + why);
            expect(!why.empty(), "refused without a reason");
            return;
        }
        if (score.state == ScoreState::TooLarge) {
            ++m_counts.tooLarge;
            expect(!isFeasible && score.leastFill > 1, "too large, and fits");
        } else
            ++m_counts.open;
        if (ran) {
            againstRun(score, **ran);
            againstWork(work, **ran);
        }
        if (score.state == ScoreState::Open)
            againstEstimate(score, plan);
    }

private:
    void againstRun(const Score &score, const Evaluation &ran)
    {
        const double seconds = ran.metrics.iterationTime.value_or(0);
        if (seconds > 0) {
            // No time can be shorter than its bound; 1e-12: seconds are nanoseconds in double precision.
            expect(score.leastSeconds <= seconds * (1 + 1e-12),
                "it takes " + std::to_string(seconds) + " s, at least " + std::to_string(score.leastSeconds));
            againstComputing(score.leastComputing, ran.metrics);
            expect(
                score.gpusUsed == 0 || score.gpusUsed == ran.metrics.gpusUsed || m_mayMove, "another number of GPUs");
            if (score.state == ScoreState::Open)
                m_counts.tightness.push_back(score.leastSeconds / seconds);
        }
        double fill = 0;
        if (ran.metrics.memory)
            for (const StageMemory &stage : ran.metrics.memory->perStage)
                fill = std::max(fill, double(stage.device) / double(std::max<std::int64_t>(1, stage.capacity)));
        if (fill == 0)
            return;
        expect(score.leastFill <= fill * (1 + 1e-9),
            "it fills " + std::to_string(fill) + ", at least " + std::to_string(score.leastFill));
        if (score.isFillExact) {
            ++m_counts.exact;
            expect(score.leastFill >= fill * (1 - 1e-9),
                "it fills " + std::to_string(fill) + ", exactly " + std::to_string(score.leastFill));
        }
    }

    /// GPU-seconds of computing = utilization x GPUs x iteration.
    void againstComputing(double least, const Metrics &metrics)
    {
        const double computing = *metrics.gpuUtilization * metrics.gpusUsed * *metrics.iterationTime;
        expect(least <= computing * (1 + 1e-12),
            "GPUs compute " + std::to_string(computing) + " GPU-s, at least " + std::to_string(least));
        if (least > 0)
            m_counts.computing.push_back(least / computing);
    }

    /// What computing alone takes is no more than the iteration, on no more GPUs.
    void againstWork(const LeastWork &work, const Evaluation &ran)
    {
        const double seconds = ran.metrics.iterationTime.value_or(0);
        m_counts.workKnown += seconds > 0 && work.seconds > 0;
        expect(seconds == 0 || work.seconds <= seconds * (1 + 1e-12),
            "it takes " + std::to_string(seconds) + " s, its work " + std::to_string(work.seconds));
        if (seconds > 0)
            againstComputing(work.computing, ran.metrics);
        expect(seconds == 0 || work.seconds == 0 || work.gpus <= ran.metrics.gpusUsed, "its work takes more GPUs");
    }

    void againstEstimate(const Score &score, const PlanPtr &plan)
    {
        const auto estimated = run(plan, Depth::Estimate, { builtinCatalogue(), m_workspace });
        const double seconds = estimated ? (*estimated)->metrics.iterationTime.value_or(0) : 0;
        expect(std::abs(score.estimate - seconds) <= 1e-9 * seconds || score.estimate == 0,
            "estimated " + std::to_string(seconds) + ", scored " + std::to_string(score.estimate));
    }

    void expect(bool holds, const std::string &what)
    {
        if (holds || m_counts.broken.size() > 4000)
            return;
        m_counts.broken += "\n" + what + ":";
        for (std::size_t i = 0; i < m_candidate->size(); ++i)
            m_counts.broken += " " + m_space.axes()[i].id + "=" + m_space.axes()[i].values[(*m_candidate)[i]].text;
    }

public:
    bool m_mayMove = false; // another placement than the one of the least bound may win

private:
    const SearchSpace &m_space;
    ClaimCounts &m_counts;
    const Candidate *m_candidate = nullptr;
    EvaluationWorkspace m_workspace;
};

/// Candidates drawn by a seed; those that are refused are looked at more rarely, since there is less to see.
inline void checkClaims(const SearchSpace &space, int count, unsigned seed, ClaimCounts &counts, bool mayMove = false)
{
    std::mt19937_64 random(seed);
    Scorer scorer(space, builtinCatalogue());
    ClaimCheck check(space, counts);
    check.m_mayMove = mayMove;
    for (int left = count, draws = 0; left > 0 && draws < 40 * count; ++draws) {
        const Candidate candidate = space.candidate(random() % space.size());
        const Score score = scorer.score(candidate);
        if (score.state != ScoreState::Open && draws % 6 != 0)
            continue;
        check.check(candidate, score, scorer.leastWork(candidate), scorer.reasonText(score.reason));
        --left;
    }
}

} // namespace trainyard::test
