// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/schedule/list_board.h"

#include "core/engine/schedule/generators.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace trainyard::schedules {

ScheduleTimes roundedTimes(const ScheduleShape &shape, const ScheduleTimes &times)
{
    constexpr std::int64_t kLongest = 1000;
    // A boundary that takes ten million operations decides no more than one that takes longer, and sums stay in range.
    constexpr double kFurthest = 1e7;
    const auto stages = static_cast<std::size_t>(shape.devices) * static_cast<std::size_t>(shape.chunks);
    std::int64_t longest = 0;
    for (const ScheduleTimes::Stage &s : times.stages)
        longest = std::max({ longest, s.forward, s.inputGrad, s.weightGrad });
    if (longest <= 0)
        return { std::vector<ScheduleTimes::Stage>(stages, { kLongest, kLongest, kLongest, 0 }),
            std::vector<std::int64_t>(stages - 1, 0), {}, times.keptForWeightGrad, times.endsTogether };
    const auto rounded = [&](std::int64_t t) {
        return std::llround(
            std::min(static_cast<double>(t) / static_cast<double>(longest), kFurthest) * static_cast<double>(kLongest));
    };
    ScheduleTimes result { {}, {}, {}, times.keptForWeightGrad, times.endsTogether };
    for (const ScheduleTimes::Stage &s : times.stages)
        result.stages.push_back(
            { rounded(s.forward), rounded(s.inputGrad), rounded(s.weightGrad), rounded(s.recompute) });
    for (const std::int64_t t : times.boundaries)
        result.boundaries.push_back(rounded(t));
    return result;
}

ListBoard::ListBoard(const ScheduleShape &shape, ChunkPlacement placement, const ScheduleTimes &times)
    : m_shape(shape)
    , m_placement(placement)
    , m_times(times)
    , m_devices(static_cast<std::size_t>(shape.devices))
    , m_kept(static_cast<int>(std::lround(std::clamp(times.keptForWeightGrad, 0.0, 1.0) * kChunk)))
{
    const auto microBatches = static_cast<std::size_t>(shape.microBatches),
               chunks = static_cast<std::size_t>(shape.chunks);
    const auto between = [&](int q) { // and the next virtual stage
        return deviceAt(placement, shape.devices, q) == deviceAt(placement, shape.devices, q + 1)
            ? 0
            : times.boundaries[static_cast<std::size_t>(q)];
    };
    const int stages = shape.devices * shape.chunks;
    for (int d = 0; d < shape.devices; ++d)
        for (int c = 0; c < shape.chunks; ++c) {
            const int q = virtualStageAt(placement, shape.devices, d, c);
            m_chunks.push_back({ q, q == 0 ? 0 : between(q - 1), q + 1 == stages ? 0 : between(q), {} });
        }
    for (auto &ends : m_ends)
        ends.assign(m_chunks.size() * microBatches, kUnknown);
    for (Device &device : m_devices) {
        device.inputGrads.reserve(microBatches * chunks);
        device.order.reserve(3 * microBatches * chunks);
    }
}

std::int64_t ListBoard::arrival(OpKind kind, int device, int chunk) const
{
    const Chunk &here = at(device, chunk);
    const int q = here.virtualStage, last = static_cast<int>(m_chunks.size()) - 1, k = here.done[index(kind)];
    if (k >= m_shape.microBatches)
        return kUnknown;
    if (kind == OpKind::Forward)
        return q == 0 ? 0 : endAt(0, q - 1, k) + here.before;
    if (here.done[0] <= k)
        return kUnknown;
    if (q == last)
        return endAt(0, q, k);
    return endAt(1, q + 1, k) + here.after;
}

std::int64_t ListBoard::duration(OpKind kind, int device, int chunk) const
{
    const ScheduleTimes::Stage &times = m_times.stages[static_cast<std::size_t>(at(device, chunk).virtualStage)];
    return kind == OpKind::Forward ? times.forward : kind == OpKind::InputGrad ? times.inputGrad : times.weightGrad;
}

bool ListBoard::hasPendingWeightGrad(int device) const
{
    const Device &here = m_devices[static_cast<std::size_t>(device)];
    return here.nextWeightGrad < here.inputGrads.size();
}

std::int64_t ListBoard::weightGradDuration(int device) const
{
    const Device &here = m_devices[static_cast<std::size_t>(device)];
    return duration(OpKind::WeightGrad, device, here.inputGrads[here.nextWeightGrad].first);
}

void ListBoard::append(Op op, int device, std::int64_t start, std::int64_t length)
{
    Device &here = m_devices[static_cast<std::size_t>(device)];
    if (here.order.empty())
        here.firstStart = start;
    else
        here.idle += start - here.freeAt;
    m_worstIdle = std::max(m_worstIdle, here.idle);
    here.freeAt = start + length;
    here.order.push_back(op);
}

void ListBoard::lay(OpKind kind, int device, int chunk)
{
    Chunk &chunkHere = m_chunks[static_cast<std::size_t>(device * m_shape.chunks + chunk)];
    Device &here = m_devices[static_cast<std::size_t>(device)];
    const int k = chunkHere.done[index(kind)];
    const std::int64_t start = std::max(here.freeAt, arrival(kind, device, chunk));
    std::int64_t length = duration(kind, device, chunk);
    // The last virtual stage finds its activations where its own forward just left them.
    if (kind == OpKind::InputGrad && chunkHere.virtualStage + 1 == static_cast<int>(m_chunks.size())
        && here.order.back() == forward(chunk, k))
        length -= m_times.stages.back().recompute;
    append(kind == OpKind::Forward ? forward(chunk, k) : inputGrad(chunk, k), device, start, length);
    ++chunkHere.done[index(kind)];
    m_ends[index(kind)]
          [static_cast<std::size_t>(chunkHere.virtualStage) * static_cast<std::size_t>(m_shape.microBatches)
              + static_cast<std::size_t>(k)] = here.freeAt;
    if (kind == OpKind::Forward) {
        here.live += kChunk;
    } else {
        here.live += m_kept - kChunk;
        here.inputGrads.emplace_back(chunk, k);
    }
}

void ListBoard::layWeightGrad(int device)
{
    Device &here = m_devices[static_cast<std::size_t>(device)];
    const auto [chunk, k] = here.inputGrads[here.nextWeightGrad++];
    append(weightGrad(chunk, k), device, here.freeAt, duration(OpKind::WeightGrad, device, chunk));
    ++m_chunks[static_cast<std::size_t>(device * m_shape.chunks + chunk)].done[2];
    here.live -= m_kept;
}

void ListBoard::layPendingWeightGrads()
{
    for (int d = 0; d < m_shape.devices; ++d)
        while (hasPendingWeightGrad(d))
            layWeightGrad(d);
}

void ListBoard::fillWith(int device, std::int64_t arrival)
{
    while (hasPendingWeightGrad(device) && freeAt(device) + weightGradDuration(device) <= arrival)
        layWeightGrad(device);
}

bool ListBoard::makeRoom(int device, int limit)
{
    while (live(device) + kChunk > limit) {
        if (!hasPendingWeightGrad(device))
            return false;
        layWeightGrad(device);
    }
    return true;
}

bool ListBoard::lay(const Program &program)
{
    std::vector<std::size_t> next(m_devices.size());
    std::vector<int> toTry(m_devices.size());
    std::iota(toTry.rbegin(), toTry.rend(), 0);
    while (!toTry.empty()) {
        const int d = toTry.back();
        toTry.pop_back();
        const std::vector<Op> &order = program.order[static_cast<std::size_t>(d)];
        std::size_t &i = next[static_cast<std::size_t>(d)];
        const std::size_t before = i;
        for (; i < order.size(); ++i) {
            if (order[i].kind == OpKind::WeightGrad)
                layWeightGrad(d);
            else if (arrival(order[i].kind, d, order[i].chunk) < kUnknown)
                lay(order[i].kind, d, order[i].chunk);
            else
                break;
        }
        if (i == before)
            continue;
        // Its neighbours, the first and the last one among them, may have got what they wait for.
        const int count = static_cast<int>(m_devices.size());
        toTry.push_back((d + count - 1) % count);
        toTry.push_back((d + 1) % count);
    }
    return isComplete();
}

bool ListBoard::isComplete() const
{
    const std::size_t all =
        3 * static_cast<std::size_t>(m_shape.microBatches) * static_cast<std::size_t>(m_shape.chunks);
    return std::ranges::all_of(m_devices, [all](const Device &d) { return d.order.size() == all; });
}

Program ListBoard::program() &&
{
    Program program { m_shape, m_placement, {} };
    for (Device &device : m_devices)
        program.order.push_back(std::move(device.order));
    return program;
}

std::int64_t ListBoard::endOf(int device) const
{
    return freeAt(device) + (m_times.tails.empty() ? 0 : m_times.tails[static_cast<std::size_t>(device)]);
}

std::int64_t ListBoard::longestSpan() const
{
    std::int64_t longest = 0;
    for (int d = 0; d < m_shape.devices; ++d)
        longest = std::max(longest, endOf(d) - m_devices[static_cast<std::size_t>(d)].firstStart);
    return longest;
}

std::int64_t ListBoard::makespan() const
{
    std::int64_t last = 0;
    for (int d = 0; d < m_shape.devices; ++d)
        last = std::max(last, endOf(d));
    return last;
}

int choicesToTry(const ScheduleShape &shape, int all)
{
    constexpr double kOperations = 5e5;
    return static_cast<int>(
        std::clamp(kOperations / (3.0 * shape.devices * shape.chunks * shape.microBatches), 1.0, double(all)));
}

void StartQueue::set(int device, std::int64_t start)
{
    if (std::exchange(m_starts[static_cast<std::size_t>(device)], start) != start && start < ListBoard::kUnknown)
        m_queue.emplace(start, device);
}

int StartQueue::earliest()
{
    while (!m_queue.empty() && m_starts[static_cast<std::size_t>(m_queue.top().second)] != m_queue.top().first)
        m_queue.pop();
    return m_queue.empty() ? -1 : m_queue.top().second;
}

BestProgram::BestProgram(const ScheduleShape &shape, const ScheduleTimes &times)
    : m_times(times.stages.empty() ? roundedTimes(shape, times) : times)
{
}

void BestProgram::offer(Program program)
{
    ListBoard board(program.shape, program.placement, m_times);
    if (!board.lay(program))
        return;
    std::pair<std::int64_t, std::int64_t> score { board.longestSpan(), board.makespan() };
    if (m_times.endsTogether)
        std::swap(score.first, score.second);
    if (isEmpty() || score < m_score) {
        m_score = score;
        m_best = std::move(program);
    }
}

} // namespace trainyard::schedules
