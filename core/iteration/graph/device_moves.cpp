// SPDX-License-Identifier: GPL-3.0-or-later
// Where devices decide while they run, nobody knows which operation comes before a backward: the first groups are asked
// for when the stage works on the last segment of the backward before, and the next stage has begun its own of the same
// micro-batch. The rest of that backward and the transfer of the gradient hide the load.
#include "core/iteration/graph/device_moves.h"

#include <algorithm>

namespace trainyard {

namespace {

class MoveFinder {
public:
    explicit MoveFinder(const DeviceOps &device)
        : m_device(device)
        , m_ops(device.ops)
        , m_kept(device.segments.size() * std::size_t(device.microBatches))
    {
    }

    DeviceMoves find()
    {
        for (std::uint32_t place = 0; place < m_ops.size(); ++place) {
            const OpKind kind = m_ops[place].op->kind;
            if (isForward(kind))
                findStores(place);
            else if (kind == OpKind::Recompute)
                keptOf(m_ops[place]).recomputation = &m_ops[place];
            else if (makesGradient(kind) && keptOf(m_ops[place]).count > 0)
                findLoads(place);
        }
        if (m_device.isOrderKnown) // first come, first served
            std::ranges::stable_sort(m_moves.loads, {},
                [](const DeviceMoves::Load &load) { return load.turn.task == kNoSpan ? 0 : load.turn.task + 1; });
        return std::move(m_moves);
    }

private:
    /// Stores of one micro-batch and chunk, and the operation of its own, if any, that recomputes what was discarded.
    struct Kept {
        std::uint32_t first = 0, count = 0;
        const PlacedOp *recomputation = nullptr;
    };
    [[nodiscard]] Kept &keptOf(const PlacedOp &at)
    {
        return m_kept[std::size_t(at.op->chunk) * std::size_t(m_device.microBatches) + std::size_t(at.op->microBatch)];
    }
    [[nodiscard]] const std::vector<OffloadSegment> &segmentsOf(const PlacedOp &at) const
    {
        return m_device.segments[std::size_t(at.op->chunk)];
    }
    /// Whether the two operations follow each other as forward and backward of one micro-batch.
    [[nodiscard]] bool isTurn(std::size_t forward, std::size_t backward) const
    {
        const Op &f = *m_ops[forward].op, &b = *m_ops[backward].op;
        return isForward(f.kind) && makesGradient(b.kind) && f.chunk == b.chunk && f.microBatch == b.microBatch;
    }

    /// The last module before its own backward stays where the two follow each other: it is needed at once.
    void findStores(std::uint32_t place)
    {
        const PlacedOp &at = m_ops[place];
        const std::vector<OffloadSegment> &segments = segmentsOf(at);
        const bool turns = m_device.isOrderKnown && place + 1 < m_ops.size() && isTurn(place, place + 1);
        Kept &kept = keptOf(at);
        kept.first = std::uint32_t(m_moves.stores.size());
        for (std::uint32_t k = 0; k < segments.size(); ++k)
            if (segments[k].store > 0 && !(turns && segments[k].staysAtTurn))
                m_moves.stores.push_back({ k, place, at.isCut ? at.task + k : at.last });
        kept.count = std::uint32_t(m_moves.stores.size()) - kept.first;
    }

    /// Of a backward, last segment first.
    void findLoads(std::uint32_t place)
    {
        const PlacedOp &at = m_ops[place];
        const Kept &kept = keptOf(at);
        const std::vector<OffloadSegment> &segments = segmentsOf(at);
        const bool recomputes = at.op->recomputes && m_device.times[std::size_t(at.op->chunk)].recompute > 0;
        const std::size_t firstLoad = m_moves.loads.size();
        std::uint32_t task = at.task, anew = kept.recomputation ? kept.recomputation->task : kNoSpan, left = kept.count;
        int group = -1;
        m_heads.clear();
        m_groupOf.clear();
        m_turn = kNoSpan;
        for (std::size_t k = segments.size(); k-- > 0;) {
            const bool makesAnew = segments[k].recompute > 0;
            const std::uint32_t user = kept.recomputation && makesAnew ? anew++ : task;
            if (at.isCut)
                task += recomputes && makesAnew ? 2 : 1;
            if (left == 0 || m_moves.stores[kept.first + left - 1].segment != k) {
                m_turn = segments[k].staysAtTurn && segments[k].store > 0 ? user : m_turn;
                continue;
            }
            if (m_heads.empty() || segments[k].group != group)
                m_heads.push_back(user);
            group = segments[k].group;
            m_heads.back() = std::min(m_heads.back(), user); // a recomputation comes before the backwards
            m_groupOf.push_back(m_heads.size() - 1);
            m_moves.loads.push_back({ kept.first + --left, place, at.isCut ? user : at.task, {} });
        }
        for (std::size_t g = m_heads.size(); g-- > 1;) // no later than what is behind it in the queue
            m_heads[g - 1] = std::min(m_heads[g - 1], m_heads[g]);
        for (std::size_t i = 0; i < m_groupOf.size(); ++i)
            m_moves.loads[firstLoad + i].turn = m_device.isOrderKnown
                ? askInOrder(place, m_groupOf[i])
                : askAtRunTime(place, m_groupOf[i], kept.recomputation);
    }

    /// At the end of the task before the one that turns to a group `ahead` places before it; the first groups before
    /// the last task of the operation before. What an operation that is not cut needs is asked for as a whole when the
    /// operation before it begins.
    [[nodiscard]] TaskEvent askInOrder(std::size_t place, std::size_t group) const
    {
        const PlacedOp &at = m_ops[place];
        const std::uint32_t first = m_ops.front().task;
        const auto ahead = std::size_t(m_device.ahead);
        std::uint32_t before = at.task;
        if (!at.isCut) {
            std::size_t last = place;
            while (last > 0 && m_ops[last].last >= at.task) // past the forward of its pair
                --last;
            before = std::min(m_ops[last].task, at.task);
        } else if (group >= ahead)
            before = m_heads[group - ahead];
        else if (m_turn != kNoSpan) // during the backward of the module that stayed
            before = m_turn;
        else if (at.task > first
            && !isTurn(place - 1, place)) // during its own forward what is asked for would never leave
            before = at.task - 1;
        return { before > first ? before - 1 : kNoSpan, false };
    }

    [[nodiscard]] TaskEvent askAtRunTime(std::size_t place, std::size_t group, const PlacedOp *recomputation) const
    {
        const PlacedOp &at = m_ops[place];
        if (const auto ahead = std::size_t(m_device.ahead); group >= ahead) {
            const std::uint32_t head = m_heads[group - ahead];
            const PlacedOp *begins = head == at.task           ? &at
                : recomputation && head == recomputation->task ? recomputation
                                                               : nullptr;
            if (!begins || head != m_heads[group])
                return begins ? beginOf(*begins) : TaskEvent { head - 1, false };
            // What its recomputation needs at once is needed with the group ahead: asked for like that one, or it would
            // wait for itself.
        }
        for (std::size_t i = place; i-- > 0;)
            if (makesGradient(m_ops[i].op->kind))
                return { m_ops[i].last, m_ops[i].isCut };
        return {};
    }

    const DeviceOps &m_device;
    std::span<const PlacedOp> m_ops;
    std::vector<Kept> m_kept; // [chunk * micro-batches + micro-batch]
    DeviceMoves m_moves;
    // Of one backward
    std::vector<std::uint32_t> m_heads; // of each group: the first task that needs it
    std::vector<std::size_t> m_groupOf; // of each load
    std::uint32_t m_turn = kNoSpan; // the backward of the module that stayed
};

} // namespace

DeviceMoves movesOf(const DeviceOps &device)
{
    return MoveFinder(device).find();
}

} // namespace trainyard
