// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/runs/overlay/recorded_run.h"

#include "tests/core/runs/overlay/replay_events.h"
#include "tests/core/runs/overlay/run_changes.h"
#include "tests/core/runs/overlay/run_writer.h"

#include <QtGlobal>

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainyard::test {

namespace {

constexpr double kBarrier = 15e3, kStepGap = 30e3, kFirstLaunch = 20e3; // ns
constexpr double kLeastTransfer = 5000; // ns, also where the plan says that it is free

class Replay {
public:
    Replay(const EvaluationPtr &evaluation, const RecordedRunOptions &options)
        : m_options(options)
        , m_changes(options, evaluation->layout)
        , m_made(replayGraph(*evaluation))
        , m_map(*evaluation->plan, evaluation->layout, options.order)
        , m_writer(m_map.worldSize(), options)
        , m_noise(options.seed)
        , m_ranks(std::size_t(m_map.worldSize()))
        , m_free(std::size_t(m_map.worldSize()), 1e6)
        , m_events(m_made)
    {
    }

    RecordedRun run()
    {
        RecordedRun made;
        for (int k = 0; k < m_options.steps; ++k) {
            m_step = k;
            step(10 + k);
            double first = std::numeric_limits<double>::max(), last = 0;
            for (const TrueRank &rank : m_ranks) {
                first = std::min(first, rank.stepStart.back());
                last = std::max(last, rank.stepEnd.back());
            }
            made.stepSeconds.push_back((last - first) * 1e-9);
            made.middle = last / 2;
        }
        for (TrueRank &rank : m_ranks) {
            rank.clockOffset = m_options.clockOffset * m_noise.oneWayOrTheOther();
            rank.clockDrift = m_options.clockDrift * m_noise.oneWayOrTheOther();
        }
        made.onTrueClock = m_writer.take();
        made.recording = onOwnClocks(made.onTrueClock, m_ranks, made.middle);
        made.map = m_map;
        made.ranks = std::move(m_ranks);
        return made;
    }

private:
    struct Times { // of one member, by its ranks
        std::vector<double> start, end;
    };

    [[nodiscard]] const TaskGraph &graph() const { return m_made.graph; }
    [[nodiscard]] double noise() { return m_noise(m_options); }
    [[nodiscard]] std::vector<int> ranksOf(const ReplayMember &member) const
    {
        return m_map.ranksOf(member.stage, member.replica, 1);
    }
    [[nodiscard]] double planned(const ReplayUnit &unit) const
    {
        return double(graph().table.durations[graph().taskClass[unit.task]]);
    }
    [[nodiscard]] const TaskClass &about(const ReplayUnit &unit) const
    {
        return graph().table.about[graph().taskClass[unit.task]];
    }
    /// Of the rank that stands where `at` does among the member's.
    [[nodiscard]] double timeOf(const ReplayWait &wait, std::size_t at) const
    {
        const Times &times = m_times[wait.unit][wait.member];
        const std::vector<double> &values = wait.isFromStart ? times.start : times.end;
        return values[std::min(at, values.size() - 1)];
    }

    void step(int number)
    {
        m_times.assign(m_made.units.size(), {});
        m_begun.assign(m_ranks.size(), false);
        for (std::size_t r = 0; r < m_ranks.size(); ++r) {
            m_writer.beginStep(int(r), m_free[r]);
            m_ranks[r].stepStart.push_back(m_free[r]);
            m_ranks[r].stepEnd.push_back(m_free[r]);
            m_ranks[r].compute.push_back(0);
        }
        std::vector<double> latest(m_made.units.size(), 0);
        std::vector<int> waitsFor;
        m_events = ReplayEvents(m_made);
        for (std::uint32_t u = 0; u < m_made.units.size(); ++u) {
            waitsFor.push_back(m_made.units[u].waitsFor);
            if (waitsFor.back() == 0)
                m_events.add(u, 0);
        }
        std::size_t done = 0;
        for (std::uint32_t u; (u = m_events.next()) != kNoSpan;) {
            process(u);
            ++done;
            double end = 0;
            for (const Times &times : m_times[u])
                end = std::max(end, std::ranges::max(times.end));
            for (const std::uint32_t follower : m_made.units[u].followers) {
                latest[follower] = std::max(latest[follower], end);
                if (--waitsFor[follower] == 0)
                    m_events.add(follower, latest[follower]);
            }
        }
        if (done != m_made.units.size())
            qFatal("the graph of the plan has a circle");
        agreeOnLoss();
        for (std::size_t r = 0; r < m_ranks.size(); ++r) {
            m_free[r] = m_ranks[r].stepEnd.back() + kStepGap * m_options.hostFactor * noise();
            m_writer.step(int(r), number, m_ranks[r].stepStart.back(), m_ranks[r].stepEnd.back());
        }
    }

    /// As trainers do at the end of a step, small and of all ranks; unless the graph has it before the optimizer.
    void agreeOnLoss()
    {
        if (std::ranges::any_of(m_made.units, [](const ReplayUnit &unit) { return unit.kind == WorkKind::Collective; }))
            return;
        std::vector<int> all;
        std::vector<double *> at;
        for (std::size_t r = 0; r < m_ranks.size(); ++r) {
            all.push_back(int(r));
            at.push_back(&m_ranks[r].stepEnd.back());
        }
        runCollective("world", all, at, "all_reduce", 4, RunStream::Data, kBarrier * noise());
    }

    void process(std::uint32_t u)
    {
        const ReplayUnit &unit = m_made.units[u];
        std::vector<Times> &times = m_times[u];
        for (const ReplayMember &member : unit.members) {
            const std::vector<int> ranks = ranksOf(member);
            Times &own = times.emplace_back();
            for (std::size_t j = 0; j < ranks.size(); ++j) {
                double start = m_free[std::size_t(ranks[j])] + kFirstLaunch;
                if (unit.resource != kNoSpan)
                    start = std::max(start, m_events.freeAt(unit.resource));
                for (const ReplayWait &wait : member.waits)
                    if (!wait.isFromAfar || !isTrainingCompute(unit.kind))
                        start = std::max(start, timeOf(wait, j) + wait.lag);
                own.start.push_back(start);
            }
        }
        for (Times &own : times)
            own.end = own.start;
        if (isTrainingCompute(unit.kind))
            compute(unit, times.front());
        else if (unit.kind == WorkKind::GradientReduce || unit.kind == WorkKind::ParameterGather
            || unit.kind == WorkKind::Collective)
            together(unit, times);
        else
            alone(unit, times.front());
        if (unit.resource != kNoSpan)
            m_events.occupy(unit.resource, std::ranges::max(times.front().end));
        for (std::size_t m = 0; m < times.size(); ++m) {
            const std::vector<int> ranks = ranksOf(unit.members[m]);
            for (std::size_t j = 0; j < ranks.size(); ++j) {
                double &end = m_ranks[std::size_t(ranks[j])].stepEnd.back();
                end = std::max(end, times[m].end[j]);
            }
        }
    }

    void runKernel(int rank, const char *name, double duration, double &now)
    {
        duration *= m_options.computeFactor * noise() * m_changes.computing(m_step, rank);
        m_writer.span(
            rank, RunStream::Compute, name, RecordedWork::Compute, now, now + duration, !m_begun[std::size_t(rank)]);
        m_begun[std::size_t(rank)] = true;
        m_ranks[std::size_t(rank)].compute.back() += duration * 1e-9;
        now += duration;
    }

    /// One collective of the ranks: each enters when it is there, all leave together.
    void runCollective(const std::string &group, const std::vector<int> &ranks, const std::vector<double *> &now,
        const char *operation, double bytes, RunStream stream, double duration)
    {
        double end = 0;
        for (const double *at : now)
            end = std::max(end, *at);
        end += duration;
        if (ranks.size() > 1) {
            const std::uint32_t index = m_writer.group(group, ranks);
            for (std::size_t j = 0; j < ranks.size(); ++j)
                m_writer.collective(
                    ranks[j], index, operation, "ncclDevKernel_bf16_RING_LL", bytes, stream, *now[j], end);
        }
        for (double *at : now)
            *at = end;
    }

    /// Computing on each rank by itself and exchanges of the stage's ranks, in turn.
    void compute(const ReplayUnit &unit, Times &own)
    {
        const ReplayMember &member = unit.members.front();
        const std::vector<int> ranks = ranksOf(member);
        std::vector<double> &now = own.end;
        for (const ReplayWait &wait : member.waits)
            if (wait.isFromAfar)
                receive(wait, member, ranks, own.start, now);
        for (std::size_t j = 0; j < ranks.size(); ++j)
            m_begun[std::size_t(ranks[j])] = m_begun[std::size_t(ranks[j])] || now[j] > own.start[j];
        own.start = now;
        const double whole = planned(unit);
        if (whole <= 0)
            return;
        const ExposedSeconds exposed = about(unit).exposed;
        const int context = contextOf(ranks), tensor = int(ranks.size()) / context;
        const double contextTime = context > 1 ? exposed.context * 1e9 : 0;
        double tensorTime = tensor > 1 ? exposed.tensor * 1e9 : 0;
        if (tensor > 1 && tensorTime <= 0) // hidden by the plan: it still happens
            tensorTime = std::min(0.02 * whole, 5e4);
        const double other = std::clamp((exposed.total() - exposed.tensor - exposed.context) * 1e9, 0.0,
            std::max(0.0, whole - contextTime - tensorTime));
        const double computing = std::max(0.0, whole - contextTime - tensorTime - other);
        for (int half = 0; half < 2; ++half) {
            for (std::size_t j = 0; j < ranks.size(); ++j)
                runKernel(ranks[j], toString(unit.kind), computing / 2, now[j]);
            if (tensorTime > 0)
                inside(ranks, now, tensor, true, tensorTime / 2 * m_options.tensorFactor, sizeOf(tensorTime / 2));
            if (contextTime > 0)
                inside(ranks, now, tensor, false, contextTime / 2 * m_options.tensorFactor, sizeOf(contextTime / 2));
            for (std::size_t j = 0; other > 0 && j < ranks.size(); ++j) {
                const double end = now[j] + other / 2 * noise();
                m_writer.span(ranks[j], RunStream::Data, "exchange", RecordedWork::Communication, now[j], end);
                now[j] = end;
            }
        }
    }

    [[nodiscard]] int contextOf(const std::vector<int> &ranks) const { return m_map.placeOf(ranks.back()).context + 1; }

    /// Tensor groups of a stage, or its context groups.
    void inside(const std::vector<int> &ranks, std::vector<double> &now, int tensor, bool isTensor, double duration,
        double bytes)
    {
        const int groups = isTensor ? int(ranks.size()) / tensor : tensor;
        for (int g = 0; g < groups; ++g) {
            std::vector<int> of;
            std::vector<double *> at;
            for (std::size_t j = 0; j < ranks.size(); ++j)
                if ((isTensor ? int(j) / tensor : int(j) % tensor) == g) {
                    of.push_back(ranks[j]);
                    at.push_back(&now[j]);
                }
            runCollective((isTensor ? "tensor " : "context ") + std::to_string(of.front()), of, at,
                isTensor ? "all_reduce" : "all_gather", bytes, RunStream::Tensor, duration * noise());
        }
    }

    /// The operation whose result comes over a channel, and when the channel began; its bytes between datacenters.
    [[nodiscard]] ReplayWait originOf(ReplayWait wait, double &began, double &wanBytes) const
    {
        while (!isTrainingCompute(m_made.units[wait.unit].kind)) {
            began = m_times[wait.unit][wait.member].start.front();
            if (m_made.units[wait.unit].kind == WorkKind::WanTransfer)
                wanBytes = about(m_made.units[wait.unit]).bytes;
            const auto &waits = m_made.units[wait.unit].members[wait.member].waits;
            const auto next = std::ranges::find_if(waits, [&](const ReplayWait &w) { return !w.isOrder; });
            if (next == waits.end())
                break;
            wait = *next;
        }
        return wait;
    }

    void receive(const ReplayWait &wait, const ReplayMember &member, const std::vector<int> &ranks,
        const std::vector<double> &idle, std::vector<double> &now)
    {
        double began = 0, wanBytes = 0;
        const bool isLag = isTrainingCompute(m_made.units[wait.unit].kind);
        const ReplayWait origin = originOf(wait, began, wanBytes);
        const ReplayMember &from = m_made.units[origin.unit].members[origin.member];
        const std::vector<int> senders = ranksOf(from);
        const bool isPaired = senders.size() == ranks.size() && from.stage != member.stage;
        const double least = from.stage != member.stage ? kLeastTransfer : 0;
        const double whole = isLag ? std::max(wait.lag, least) : planned(m_made.units[wait.unit]);
        const double lag = isLag
            ? whole * m_options.pipelineFactor * noise() * m_changes.transfers(member.replica, member.stage, from.stage)
            : wait.lag;
        for (std::size_t j = 0; j < ranks.size(); ++j) {
            const double sent = timeOf(origin, j), left = isLag ? sent + lag : timeOf(wait, j),
                         arrival = isLag ? left : left + lag;
            now[j] = std::max(now[j], arrival);
            if (!isPaired)
                continue;
            const std::uint32_t group = m_writer.group("pipeline " + std::to_string(std::min(senders[j], ranks[j]))
                    + "-" + std::to_string(std::max(senders[j], ranks[j])),
                { senders[j], ranks[j] });
            const double posted = std::min(idle[j], isLag ? sent : std::max(sent, began));
            const double bytes =
                m_options.sendsTrueBytes && wanBytes > 0 ? std::ceil(wanBytes / double(ranks.size())) : sizeOf(whole);
            m_writer.collective(
                senders[j], group, "send", "ncclDevKernel_SendRecv", bytes, RunStream::Send, sent, left);
            m_writer.collective(
                ranks[j], group, "recv", "ncclDevKernel_SendRecv", bytes, RunStream::Receive, posted, arrival);
        }
    }

    /// Reductions, gathers and barriers of many stages.
    void together(const ReplayUnit &unit, std::vector<Times> &times)
    {
        const bool isBarrier = unit.kind == WorkKind::Collective;
        double duration = isBarrier ? kBarrier : planned(unit) * m_options.dataFactor;
        const int stage = unit.members.front().stage;
        if (!isBarrier && m_options.slowGroup && m_options.slowGroup->stage == stage)
            duration *= m_options.slowGroup->factor;
        if (duration <= 0)
            return;
        const std::size_t size = times.front().end.size();
        const bool areAlike =
            !isBarrier && std::ranges::all_of(times, [&](const Times &one) { return one.end.size() == size; });
        const int tensor = int(size) / contextOf(ranksOf(unit.members.front()));
        const int groups = areAlike ? tensor : 1;
        for (int g = 0; g < groups; ++g) {
            std::vector<int> of;
            std::vector<double *> at;
            for (std::size_t m = 0; m < times.size(); ++m) {
                const std::vector<int> ranks = ranksOf(unit.members[m]);
                for (std::size_t j = 0; j < ranks.size(); ++j)
                    if (groups == 1 || int(j) % tensor == g) {
                        of.push_back(ranks[j]);
                        at.push_back(&times[m].end[j]);
                    }
            }
            const std::string name = isBarrier ? "world" : "data " + std::to_string(stage) + "." + std::to_string(g);
            runCollective(name, of, at, unit.kind == WorkKind::ParameterGather ? "all_gather" : "all_reduce",
                isBarrier ? 4 : sizeOf(planned(unit)), RunStream::Data, duration * noise());
        }
    }

    /// Steps of the optimizer, copies, transfers between datacenters, work of the host.
    void alone(const ReplayUnit &unit, Times &own)
    {
        const ReplayMember &member = unit.members.front();
        const std::vector<int> ranks = ranksOf(member);
        if (unit.kind == WorkKind::Optimizer || unit.kind == WorkKind::GpuOptimizer) {
            for (std::size_t j = 0; j < ranks.size() && planned(unit) > 0; ++j)
                runKernel(ranks[j], "multi_tensor_apply", planned(unit), own.end[j]);
            return;
        }
        double duration = planned(unit) * noise();
        if (unit.kind == WorkKind::WanTransfer) {
            const int to = graph().resources[graph().resource[unit.task]].track.toStage;
            duration *= m_options.pipelineFactor * m_changes.link(m_step, member.replica, member.stage, to);
        } else if (unit.kind == WorkKind::Overhead) {
            duration *= m_options.hostFactor;
        }
        const double start = std::ranges::max(own.start);
        for (std::size_t j = 0; j < ranks.size(); ++j) {
            if (unit.kind != WorkKind::Overhead)
                own.start[j] = start;
            own.end[j] = own.start[j] + duration;
            if (isCopy(unit.kind) && duration > 0)
                m_writer.span(ranks[j], RunStream::Copy, "Memcpy", RecordedWork::Copy, own.start[j], own.end[j]);
        }
    }

    const RecordedRunOptions &m_options;
    RunChanges m_changes;
    int m_step = 0; // index
    ReplayGraph m_made;
    RankMap m_map;
    RunWriter m_writer;
    DurationNoise m_noise;
    std::vector<TrueRank> m_ranks;
    std::vector<double> m_free; // [rank]: when its step may begin
    std::vector<bool> m_begun; // [rank]: it has run something in this step
    std::vector<std::vector<Times>> m_times; // [unit][member]
    ReplayEvents m_events;
};

} // namespace

RecordedRun recordRun(const EvaluationPtr &evaluation, const RecordedRunOptions &options)
{
    return Replay(evaluation, options).run();
}

} // namespace trainyard::test
