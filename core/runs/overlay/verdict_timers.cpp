// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a verdict that a log's timers tell, beside the same work of the plan.
#include "core/runs/overlay/log_timers.h"
#include "core/runs/overlay/verdict_parts.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

constexpr int kTimerParts = 8;
constexpr double kRounding = 1e-3; // timers are printed in ms with two decimals

struct Sums {
    std::array<double, kTimerParts> seconds {};
    std::array<std::string, kTimerParts> names; // "timers a and b"
    std::array<int, kTimerParts> steps {}, timers {};
    [[nodiscard]] static std::size_t at(TimerPart part) { return static_cast<std::size_t>(part); }
    [[nodiscard]] double of(TimerPart part) const { return seconds[at(part)]; }
    [[nodiscard]] bool has(TimerPart part) const { return timers[at(part)] > 0; }
    [[nodiscard]] std::string evidence(std::initializer_list<TimerPart> parts) const
    {
        std::string text;
        int count = 0, most = 0;
        for (const TimerPart part : parts) {
            if (!has(part))
                continue;
            text += (text.empty() ? "" : ", ") + names[at(part)];
            count += timers[at(part)];
            most = std::max(most, steps[at(part)]);
        }
        return (count == 1 ? "timer " : "timers ") + text + ", " + stepsText(most);
    }
};

Sums sumsOf(const std::vector<ToldTimer> &timers)
{
    Sums sums;
    for (const ToldTimer &timer : timers) {
        const std::size_t p = Sums::at(timer.part);
        sums.seconds[p] += timer.seconds;
        sums.names[p] += (sums.names[p].empty() ? "" : ", ") + timer.name;
        sums.steps[p] = std::max(sums.steps[p], timer.steps);
        ++sums.timers[p];
    }
    return sums;
}

/// Timers with others taken out of them. False: they do not fit into the step.
class TimerParts {
public:
    TimerParts(const Sums &sums, bool isNested, bool isSharded, double step, const Breakdown &plan, TakenApart &taken)
        : m_sums(sums)
        , m_isNested(isNested)
        , m_isSharded(isSharded)
        , m_step(step)
        , m_plan(plan)
        , m_taken(taken)
    {
    }

    bool make()
    {
        forwardAndBackward();
        gradients();
        batches();
        double measured = 0, predicted = 0;
        for (const TakenPart &one : m_made) {
            measured += one.part.measured;
            predicted += one.part.predicted;
        }
        if (m_made.empty() || measured > m_step * (1 + kRounding))
            return false;
        m_made.push_back({ VerdictKind::Untold,
            { "not told apart", m_plan.total() - predicted, m_step - measured, "the step beside its timers" } });
        m_taken.parts = std::move(m_made);
        m_taken.hasTimers = true;
        return true;
    }

private:
    void forwardAndBackward()
    {
        using enum TimerPart;
        const Breakdown &p = m_plan;
        const double inside = p.dataParallelInSpans + p.offloadStallInSpans;
        const double computing = p.compute + p.tensorParallel + p.contextParallel + p.expertParallel + inside;
        if (m_sums.has(ForwardAndBackward)) {
            add(VerdictKind::ForwardBackward, "forward and backward", computing,
                m_sums.of(ForwardAndBackward) - m_sums.of(Batch), m_sums.evidence({ ForwardAndBackward }));
            if (m_sums.has(Receive) || m_sums.has(Send))
                add(VerdictKind::Bubble, "bubble and transfers between stages", p.bubble + p.pipeline + p.wan,
                    m_sums.of(Receive) + m_sums.of(Send), m_sums.evidence({ Receive, Send }));
        } else if (m_sums.has(WholeForwardBackward)) {
            const double nested = m_sums.of(Batch) + (m_isNested ? m_sums.of(Exchange) : 0);
            add(VerdictKind::ForwardBackward, "forward and backward with bubble and transfers",
                computing + p.bubble + p.pipeline + p.wan + p.offloadStall - p.offloadStallInSpans,
                m_sums.of(WholeForwardBackward) - nested, m_sums.evidence({ WholeForwardBackward }));
            m_taken.notes.push_back("Forward and backward are one part: level 2 of the timers tells the transfers and "
                                    "the waiting in it");
        }
    }

    void gradients()
    {
        using enum TimerPart;
        const double exposed = m_plan.dataParallel - m_plan.dataParallelInSpans;
        const double optimizer = m_sums.of(Optimizer) - (m_isNested ? m_sums.of(ParameterGather) : 0);
        const bool isGatherTold = m_sums.has(ParameterGather) || !m_sums.has(Optimizer);
        if (m_isSharded && !isGatherTold && exposed > 0 && m_sums.has(Exchange)) {
            m_taken.notes.push_back("The timer of the optimizer has the gathering of the parameters in it: gradients, "
                                    "parameters and optimizer are one part");
            return add(VerdictKind::Gradients, "exposed exchange of gradients and parameters, with the optimizer",
                exposed + m_plan.optimizer, m_sums.of(Exchange) + m_sums.of(Optimizer),
                m_sums.evidence({ Exchange, Optimizer }));
        }
        if (m_sums.has(Exchange) || m_sums.has(ParameterGather))
            add(VerdictKind::Gradients, m_isSharded ? "exposed reduce-scatter and all-gather" : "exposed all-reduce",
                exposed, m_sums.of(Exchange) + m_sums.of(ParameterGather),
                m_sums.evidence({ Exchange, ParameterGather }));
        if (m_sums.has(Optimizer))
            add(VerdictKind::Optimizer, "optimizer", m_plan.optimizer, optimizer, m_sums.evidence({ Optimizer }));
    }

    void batches()
    {
        using enum TimerPart;
        if (m_sums.has(Batch))
            add(VerdictKind::Host, "making batches", 0, m_sums.of(Batch), m_sums.evidence({ Batch }));
    }

    void add(VerdictKind kind, const char *what, double predicted, double measured, std::string evidence)
    {
        m_made.push_back({ kind, { what, predicted, std::max(0.0, measured), std::move(evidence) } });
    }

    const Sums &m_sums;
    bool m_isNested, m_isSharded; // exchanges are in other timers; parameters are gathered
    double m_step;
    const Breakdown &m_plan;
    TakenApart &m_taken;
    std::vector<TakenPart> m_made;
};

} // namespace

void takeTimersApart(const RunOverlay &overlay, const Breakdown &plan, TakenApart &taken)
{
    const Run &run = *overlay.run;
    const auto steps = countedSteps(run, false);
    taken.steps = static_cast<int>(steps.size());
    std::vector<std::int64_t> numbers;
    for (const RunStep *step : steps)
        numbers.push_back(step->number);
    const std::vector<ToldTimer> timers = toldTimers(*run.recording, numbers);
    const Sums sums = sumsOf(timers);
    const auto reducesAll = [](const ToldTimer &timer) { // as runs do whose states are not sharded
        return timer.name == "grads-all-reduce" || timer.name == "backward-params-all-reduce";
    };
    const bool isSharded =
        overlay.evaluation->plan->parallelism.zeroStage > 0 && std::ranges::none_of(timers, reducesAll);
    if (TimerParts(sums, areExchangesNested(timers), isSharded, run.medianSeconds, plan, taken).make())
        return;
    taken.notes.clear();
    if (!timers.empty())
        taken.notes.push_back("The timers of the log add up to more than the step, so that they do not take it apart");
    taken.parts.push_back({ VerdictKind::Untold,
        { "not told apart", plan.total(), run.medianSeconds, "time of a step, " + stepsText(taken.steps) } });
}

} // namespace trainyard
