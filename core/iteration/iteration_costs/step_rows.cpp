// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/iteration_costs/step_rows.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

/// Rounded down, so that no sum of parts outlasts the whole.
Nanoseconds wholeTicks(Seconds t)
{
    return static_cast<Nanoseconds>(std::floor(t.value * 1e9));
}

/// Rows are filled side by side; a task is known by row and place until all have their numbers.
class Rows {
public:
    struct Ref {
        int row = -1;
        std::uint32_t place = 0;
    };

    int add(Stream stream)
    {
        m_step.rows.push_back({ stream, {} });
        m_after.emplace_back();
        return int(m_step.rows.size()) - 1;
    }

    Ref add(int row, WorkKind kind, Nanoseconds duration, Ref after, Nanoseconds lag)
    {
        std::vector<StepTask> &tasks = m_step.rows[std::size_t(row)].tasks;
        tasks.push_back({ kind, duration, kNoSpan, after.row < 0 ? 0 : lag });
        m_after[std::size_t(row)].push_back(after);
        return { row, static_cast<std::uint32_t>(tasks.size() - 1) };
    }

    StepRows finish()
    {
        std::vector<std::uint32_t> first;
        std::uint32_t count = 0;
        for (const StepRow &row : m_step.rows) {
            first.push_back(count);
            count += static_cast<std::uint32_t>(row.tasks.size());
        }
        for (std::size_t r = 0; r < m_step.rows.size(); ++r)
            for (std::size_t i = 0; i < m_after[r].size(); ++i)
                if (const Ref after = m_after[r][i]; after.row >= 0)
                    m_step.rows[r].tasks[i].after = first[std::size_t(after.row)] + after.place;
        std::erase_if(m_step.rows, [](const StepRow &row) { return row.tasks.empty(); });
        return std::move(m_step);
    }

private:
    StepRows m_step;
    std::vector<std::vector<Ref>> m_after; // [row][task]
};

/// A stream of a pipelined step: `each` for what is drawn as one task, of which the first group takes `first`.
struct Part {
    Nanoseconds each = 0, first = 0;
    Part(Seconds whole, int parts, int groups)
        : each(wholeTicks(whole / parts))
        , first(parts == groups ? each : wholeTicks(whole / groups))
    {
    }
    /// From its end back to where the next stream may begin.
    [[nodiscard]] Nanoseconds lag() const { return first - each; }
};

StepRows pipelined(const OffloadedStep &step)
{
    const int groups = std::max(1, step.groups), parts = groups <= kMostDrawnGroups ? groups : 1;
    const Part out(step.toHost, parts, groups), read(step.read, parts, groups), cpu(step.cpu, parts, groups),
        write(step.write, parts, groups), in(step.toGpu, parts, groups);
    Rows rows;
    const int toHost = rows.add(Stream::StepToHost), drive = rows.add(Stream::StepDrive),
              processors = rows.add(Stream::StepCpu), toGpu = rows.add(Stream::StepToGpu);
    const Nanoseconds period = std::max({ read.each + write.each, cpu.each, out.each, in.each });
    const Nanoseconds before = parts == 1 ? 0 : std::clamp<Nanoseconds>(period - read.each - cpu.each, 0, write.each);
    Rows::Ref updatedBefore;
    Nanoseconds lagBefore = 0;
    const auto add = [&rows](int row, WorkKind kind, const Part &part, Rows::Ref &last, Nanoseconds &lag) {
        if (part.each <= 0)
            return;
        last = rows.add(row, kind, part.each, last, lag);
        lag = part.lag();
    };
    const auto writeBack = [&](Nanoseconds duration, Rows::Ref updated, Nanoseconds lag) {
        if (duration > 0)
            rows.add(drive, WorkKind::DriveWrite, duration, updated, lag);
    };
    for (int k = 0; k < parts; ++k) {
        Rows::Ref last;
        Nanoseconds lag = 0;
        add(toHost, WorkKind::GradientsToHost, out, last, lag);
        add(drive, WorkKind::DriveRead, read, last, lag);
        if (k > 0)
            writeBack(write.each - before, updatedBefore, lagBefore);
        add(processors, WorkKind::CpuOptimizer, cpu, last, lag);
        writeBack(k + 1 < parts ? before : write.each, last, lag);
        updatedBefore = last;
        lagBefore = lag;
        add(toGpu, WorkKind::WeightsToGpu, in, last, lag);
    }
    return rows.finish();
}

StepRows interleaved(const OffloadedStep &step)
{
    const int cycles = std::clamp(step.groups / std::max(1, step.stride), 1, kMostDrawnGroups);
    const Nanoseconds cycle = wholeTicks(step.time / cycles);
    const auto each = [&](Seconds whole) { return std::min(wholeTicks(whole / cycles), cycle); };
    struct Work {
        Stream stream;
        WorkKind kind;
        Nanoseconds each, offset;
    };
    const Nanoseconds states = each(step.statesToGpu),
                      weights = std::min(each(step.toGpu - step.statesToGpu), cycle - states), gpu = each(step.gpu),
                      out = each(step.toHost);
    const Work works[] = { { Stream::StepToHost, WorkKind::StatesToHost, out, cycle - out },
        { Stream::StepCpu, WorkKind::CpuOptimizer, each(step.cpu), 0 },
        { Stream::StepGpu, WorkKind::GpuOptimizer, gpu, std::min(states, cycle - gpu) },
        { Stream::StepToGpu, WorkKind::StatesToGpu, states, 0 },
        { Stream::StepToGpu, WorkKind::WeightsToGpu, weights, states } };
    Rows rows;
    std::vector<int> rowOf;
    for (const Work &work : works)
        rowOf.push_back(!rowOf.empty() && work.kind == WorkKind::WeightsToGpu ? rowOf.back() : rows.add(work.stream));
    // What begins with the cycle, and so with the step, times the others.
    const auto leads = [](const Work &work) { return work.offset == 0 && work.each > 0; };
    const auto leader = std::ranges::find_if(works, leads);
    if (leader == std::end(works))
        return {};
    Rows::Ref lead;
    for (int k = 0; k < cycles; ++k) {
        lead = rows.add(rowOf[std::size_t(leader - works)], leader->kind, leader->each, lead, cycle - leader->each);
        for (const Work &work : works)
            if (&work != &*leader && work.each > 0)
                rows.add(rowOf[std::size_t(&work - works)], work.kind, work.each, lead, work.offset - leader->each);
    }
    return rows.finish();
}

} // namespace

StepRows stepRows(const OffloadedStep &step)
{
    if (!(step.time.value > 0) || !std::isfinite(step.time.value))
        return {};
    return step.stride > 0 ? interleaved(step) : pipelined(step);
}

} // namespace trainyard
