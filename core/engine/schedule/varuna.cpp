// SPDX-License-Identifier: GPL-3.0-or-later
// Varuna (Athlur et al. 2022, EuroSys): an order made beforehand as if there were no network, in slots of one forward =
// one recomputation = half a backward: backward before recomputation before forward, and a stage may recompute from the
// moment that the next stage's backward is half done. While a stage then waits for a gradient, the next forward takes
// the place of what waits (OrderRule::OpportunisticForward). The last stage recomputes nothing.
#include "core/engine/schedule/generators.h"

namespace trainyard::schedules {

namespace {

constexpr int kNever = -1;

/// Micro-batches pass each stage in their order; the vectors hold slots, per micro-batch.
struct VarunaStage {
    std::vector<int> input, gradient, release; // when it is there; when recomputation may begin
    int forwards = 0, recomputed = 0, backwards = 0;
    int recomputedAt = 0, free = 0;
};

bool isReady(const std::vector<int> &at, int microBatch, int slot)
{
    const int when =
        static_cast<std::size_t>(microBatch) < at.size() ? at[static_cast<std::size_t>(microBatch)] : kNever;
    return when != kNever && when <= slot;
}

class OrderFile {
public:
    OrderFile(Program &program)
        : m_order(program.order)
        , m_microBatches(program.shape.microBatches)
        , m_stages(static_cast<std::size_t>(program.shape.devices))
    {
        m_order.resize(m_stages.size());
        m_stages.front().input.assign(static_cast<std::size_t>(m_microBatches), 0);
    }

    void run()
    {
        std::size_t open = m_stages.size();
        for (int slot = 0; open > 0; ++slot)
            for (std::size_t i = 0; i < m_stages.size(); ++i)
                if (m_stages[i].free <= slot && m_stages[i].backwards < m_microBatches && step(i, slot)
                    && m_stages[i].backwards == m_microBatches)
                    --open;
    }

private:
    /// False where the stage finds nothing to do.
    bool step(std::size_t i, int slot)
    {
        VarunaStage &stage = m_stages[i];
        const bool isLast = i + 1 == m_stages.size();
        const bool isRecomputed = isLast || (stage.recomputed > stage.backwards && stage.recomputedAt <= slot);
        if (isRecomputed && isReady(stage.gradient, stage.backwards, slot)) {
            m_order[i].push_back(backward(0, stage.backwards++));
            stage.free = slot + 2;
            if (i > 0) {
                m_stages[i - 1].gradient.push_back(slot + 2);
                m_stages[i - 1].release.push_back(slot + 1);
            }
            return true;
        }
        if (!isLast && isReady(stage.release, stage.recomputed, slot)) {
            ++stage.recomputed; // runs with its backward, which follows
            stage.recomputedAt = stage.free = slot + 1;
            return true;
        }
        if (stage.forwards < m_microBatches && isReady(stage.input, stage.forwards, slot)) {
            m_order[i].push_back(forward(0, stage.forwards++));
            stage.free = slot + 1;
            (isLast ? stage.gradient : m_stages[i + 1].input).push_back(slot + 1);
            return true;
        }
        return false;
    }

    std::vector<std::vector<Op>> &m_order;
    int m_microBatches;
    std::vector<VarunaStage> m_stages;
};

std::vector<int> inFlightOfVaruna(const ScheduleShape &shape)
{
    std::vector<int> needed = everyMicroBatch(shape);
    needed.back() = 1;
    return needed;
}

void layVaruna(Program &program)
{
    OrderFile(program).run();
}

} // namespace

constinit const ScheduleTraits varuna {
    .kind = ScheduleKind::Varuna,
    .label = "Varuna",
    .text = "an order made beforehand; while a backward waits for its gradient, the next forward goes",
    .holds = "all",
    .lay = layVaruna,
    .inFlight = inFlightOfVaruna,
    .form = cellTime,
    .rule = OrderRule::OpportunisticForward,
};

} // namespace trainyard::schedules
