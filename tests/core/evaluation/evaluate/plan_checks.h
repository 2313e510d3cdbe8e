#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What holds for the evaluation of any plan, whatever it asks for: sums of times and bytes, shares, spans. Faults are
// gathered with the plans that show them, so that one run of a test tells of all.

#include "core/engine/schedule/traits.h"
#include "core/evaluation/evaluate/evaluation.h"
#include "core/evaluation/report/metrics_json.h"
#include "core/iteration/placement/degrees.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

namespace trainyard::test {

/// Without the times that the evaluation itself took.
inline std::string numbersOf(const Evaluation &evaluation)
{
    std::string text;
    std::string json = metricsJson(evaluation);
    for (std::size_t from = 0, to; from < json.size(); from = to + 1) {
        to = std::min(json.find('\n', from), json.size());
        const std::string line = json.substr(from, to - from);
        if (line.find("\"simulate_ms\"") == std::string::npos && line.find("\"evaluate_ms\"") == std::string::npos)
            text += line + "\n";
    }
    return text;
}

inline bool isShare(const Metric &value)
{
    return !value || (*value >= 0 && *value <= 1 + 1e-9);
}

/// An operation of a program as its spans tell it: class, stage, kind, chunk, micro-batch.
using Did = std::tuple<int, int, WorkKind, int, int>;

class Findings {
public:
    void expect(bool holds, unsigned seed, const std::string &claim)
    {
        if (holds)
            return;
        auto &[count, text] = m_broken[claim.substr(0, claim.find(':'))];
        if (count++ < 8)
            text += "\n  plan " + std::to_string(seed) + ", " + claim;
    }
    [[nodiscard]] std::string text() const
    {
        std::string all;
        for (const auto &[claim, found] : m_broken)
            all += "\n" + claim + ", broken by " + std::to_string(found.first) + found.second;
        return all;
    }

private:
    std::map<std::string, std::pair<int, std::string>> m_broken;
};

inline void checkSums(Findings &findings, unsigned seed, const Metrics &m)
{
    // Sum of the parts = iteration, each at least 0.
    findings.expect(std::abs(m.breakdown->total() - *m.iterationTime) <= 1e-6 * *m.iterationTime + 2e-9, seed,
        "the breakdown adds up: " + std::to_string(m.breakdown->total()) + " of " + std::to_string(*m.iterationTime));
    for (double Breakdown::*part : kBreakdownParts)
        findings.expect((*m.breakdown).*part >= -1e-12, seed,
            "no part of the breakdown is negative: " + std::to_string((*m.breakdown).*part));
    for (const StageMemory &s : m.memory ? m.memory->perStage : std::vector<StageMemory> {}) {
        // weights + gradients + optimizer + activations + buffers = peak <= reserved <= device, and the named parts =
        // device.
        findings.expect(s.weights + s.gradients + s.optimizer + s.activations + s.buffers == s.peak, seed,
            "memory adds up to the peak");
        findings.expect(s.peak <= s.reserved && s.reserved <= s.device, seed, "peak, reserved and device memory grow");
        const std::int64_t named = std::accumulate(s.parts.begin(), s.parts.end(), std::int64_t(0),
            [](std::int64_t sum, const auto &part) { return sum + part.second; });
        findings.expect(named == s.device, seed,
            "the named parts of memory add up: " + std::to_string(named) + " of " + std::to_string(s.device));
        for (const std::int64_t bytes : { s.weights, s.gradients, s.optimizer, s.activations, s.buffers, s.offloaded })
            findings.expect(bytes >= 0, seed, "no part of memory is negative");
    }
}

inline void checkShares(Findings &findings, unsigned seed, const Metrics &m)
{
    findings.expect(isShare(m.mfu) && isShare(m.hfu), seed,
        "FLOPs utilization is a share: " + std::to_string(m.mfu.value_or(0)) + ", "
            + std::to_string(m.hfu.value_or(0)));
    findings.expect(isShare(m.gpuUtilization) && isShare(m.gpuUtilizationWithFill), seed, "GPU utilization is a share");
    findings.expect(
        isShare(m.bubbleFraction), seed, "the bubble is a share: " + std::to_string(m.bubbleFraction.value_or(0)));
    findings.expect(!m.gpuUtilizationWithFill || *m.gpuUtilizationWithFill >= *m.gpuUtilization - 1e-12, seed,
        "prefill adds to utilization");
    for (const WanLinkUse &use : m.wanLinks)
        findings.expect(isShare(use.utilization), seed, "use of a link is a share: " + std::to_string(use.utilization));
    if (m.bubbleFill)
        findings.expect(isShare(m.bubbleFill->filledFraction) && m.bubbleFill->trainingDelay == 0, seed,
            "filled idle time is a share, and delays nothing");
    findings.expect(m.gpusUsed >= 0 && m.gpusUsed <= m.gpusTotal, seed, "no more GPUs are used than there are");
}

inline void checkSpans(Findings &findings, unsigned seed, const Evaluation &evaluation)
{
    const Timeline &t = evaluation.timeline;
    std::map<Did, int> did;
    for (const Track &track : t.tracks) {
        Nanoseconds free = 0;
        for (std::uint32_t s = track.first; s < track.last; ++s) {
            findings.expect(t.start[s] >= 0 && t.end[s] >= t.start[s], seed,
                "a span begins at 0 or later and ends after its begin");
            findings.expect(t.start[s] >= free, seed,
                "spans of a track do not overlap: track of stage " + std::to_string(track.stage) + ", "
                    + toString(t.kind[s]));
            findings.expect(
                t.end[s] <= t.duration, seed, "no span ends after the iteration: " + std::string(toString(t.kind[s])));
            free = t.end[s];
            if (track.stream == Stream::Compute && t.kind[s] <= WorkKind::ForwardBackward
                && t.kind[s] != WorkKind::Recompute) {
                ++did[{ track.pipelineClass, track.stage,
                    t.kind[s] == WorkKind::ForwardBackward ? WorkKind::Forward : t.kind[s], t.chunk[s],
                    t.microBatch[s] }];
                if (t.kind[s] == WorkKind::ForwardBackward)
                    ++did[{ track.pipelineClass, track.stage, WorkKind::Backward, t.pairedChunk[s],
                        t.pairedMicroBatch[s] }];
            }
        }
    }
    findings.expect(std::abs(toSeconds(t.duration).value - *evaluation.metrics.iterationTime)
            < 1e-9 * std::max(1.0, *evaluation.metrics.iterationTime),
        seed, "the iteration is as long as its timeline");
    // Every micro-batch goes once forward and once backward through every chunk of every stage; where a model has two
    // copies, through one of them. Offloading cuts an operation into several spans, which count as one.
    const Plan &plan = *evaluation.plan;
    const bool isCut = plan.memory.activationOffload != ActivationOffload::None || plan.memory.offloadExpertInput;
    std::map<std::pair<int, WorkKind>, std::int64_t> counts;
    for (const auto &[what, times] : did) {
        findings.expect(times == 1 || isCut, seed, "every operation runs once");
        ++counts[{ std::get<0>(what), std::get<2>(what) }];
    }
    for (std::size_t c = 0; c < evaluation.layout.classes.size(); ++c) {
        const std::int64_t expected = std::int64_t(plan.parallelism.pipeline) * degreesOf(plan).programChunks()
            * evaluation.layout.classes[c].microBatches / traitsOf(plan.schedule).copies();
        const auto count = [&](WorkKind kind) { return counts[{ int(c), kind }]; };
        findings.expect(count(WorkKind::Forward) == expected, seed,
            "every forward of the schedule runs: " + std::to_string(count(WorkKind::Forward)) + " of "
                + std::to_string(expected));
        findings.expect(count(WorkKind::Backward) + count(WorkKind::InputGrad) == expected, seed,
            "every backward of the schedule runs");
        findings.expect(count(WorkKind::InputGrad) == count(WorkKind::WeightGrad), seed,
            "every input gradient has its weight gradient");
    }
}

} // namespace trainyard::test
