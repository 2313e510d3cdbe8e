// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/lane_steps.h"

#include "core/engine/timeline/lane_step_list_internal.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

/// The same as the step `distance` steps before, seen from there.
bool saysTheSame(const std::vector<ValueStep> &steps, std::size_t i, std::size_t distance)
{
    const ValueStep &step = steps[i], &before = steps[i - distance];
    const auto by = static_cast<StepNumber>(distance);
    return step.resource == before.resource && step.lag == before.lag && step.time == before.time
        && step.a == before.a + by && step.b == before.b + by;
}

struct Repeated {
    std::size_t first = 0, length = 0, times = 0; // steps [first, first + length * times)
    [[nodiscard]] std::size_t end() const { return first + length * times; }
};

constexpr std::size_t kLeastTimes = 4, kLeastSteps = 16;

/// Repetitions one after the other, each found where a few steps are met again: as long as it goes on.
std::vector<Repeated> findRepeated(const std::vector<ValueStep> &steps)
{
    constexpr std::size_t kWindow = 4, kSlots = 1 << 14;
    std::vector<Repeated> found;
    std::vector<std::uint32_t> lastAt(kSlots, std::numeric_limits<std::uint32_t>::max());
    const auto hashOf = [&](std::size_t at) {
        std::uint64_t hash = 0;
        for (std::size_t i = at; i < at + kWindow; ++i) {
            const auto now = static_cast<StepNumber>(i);
            const auto word = static_cast<std::uint64_t>(steps[i].lag) << 48
                ^ static_cast<std::uint64_t>(steps[i].time) << 32
                ^ static_cast<std::uint64_t>(static_cast<std::uint32_t>(now - steps[i].a)) << 16
                ^ static_cast<std::uint64_t>(static_cast<std::uint32_t>(now - steps[i].b))
                ^ static_cast<std::uint64_t>(steps[i].resource) << 40;
            hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
            hash ^= hash >> 29;
        }
        return static_cast<std::size_t>(hash % kSlots);
    };
    std::size_t open = 0; // where the next may begin
    for (std::size_t i = 0; i + kWindow <= steps.size(); ++i) {
        std::uint32_t &last = lastAt[hashOf(i)];
        const std::size_t before = last;
        last = static_cast<std::uint32_t>(i);
        if (before >= i || before < open)
            continue;
        const std::size_t length = i - before;
        std::size_t end = i;
        while (end < steps.size() && saysTheSame(steps, end, length))
            ++end;
        const std::size_t times = (end - before) / length;
        if (times < kLeastTimes || times * length < kLeastSteps)
            continue;
        found.push_back({ before, length, times });
        open = found.back().end();
        i = open - 1;
    }
    return found;
}

/// Gives values their slots, stretch by stretch.
class SlotAllocation {
public:
    SlotAllocation(const std::vector<ValueStep> &steps, const std::vector<StepNumber> &ends, LaneSteps &out)
        : m_steps(steps)
        , m_ends(ends)
        , m_out(out)
        , m_slot(steps.size(), 0)
        , m_lastUse(steps.size(), 0)
    {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            use(steps[i].a, i);
            use(steps[i].b, i);
        }
        for (const StepNumber end : ends)
            use(end, steps.size());
    }

    void run(const std::vector<Repeated> &repeated)
    {
        std::size_t at = 0;
        for (const Repeated &part : repeated) {
            if (!findCarried(part))
                continue;
            addStraight(at, part.first);
            addRepeated(part);
            at = part.end();
        }
        addStraight(at, m_steps.size());
        for (const StepNumber end : m_ends)
            m_out.ends.push_back(slotOf(end));
        m_out.slotCount = m_slots;
    }
    [[nodiscard]] bool isTooMany() const { return m_slots > std::numeric_limits<std::uint16_t>::max(); }

private:
    void use(StepNumber value, std::size_t at)
    {
        if (value >= 0)
            m_lastUse[static_cast<std::size_t>(value)] = at;
    }
    [[nodiscard]] std::uint16_t slotOf(StepNumber value) const
    {
        return value < 0 ? 0 : m_slot[static_cast<std::size_t>(value)];
    }
    std::uint16_t take()
    {
        if (m_free.empty())
            return static_cast<std::uint16_t>(m_slots++);
        const std::uint16_t slot = m_free.back();
        m_free.pop_back();
        return slot;
    }
    void freeAfter(std::size_t at, StepNumber value)
    {
        if (value >= 0 && m_lastUse[static_cast<std::size_t>(value)] == at) {
            m_lastUse[static_cast<std::size_t>(value)] = kFreed;
            m_free.push_back(slotOf(value));
        }
    }

    void addStraight(std::size_t first, std::size_t last)
    {
        if (first == last)
            return;
        const auto begin = static_cast<std::uint32_t>(m_out.steps.size());
        for (std::size_t i = first; i < last; ++i) {
            const ValueStep &step = m_steps[i];
            const std::uint16_t a = slotOf(step.a), b = slotOf(step.b);
            freeAfter(i, step.a);
            freeAfter(i, step.b);
            m_slot[i] = take();
            m_out.steps.push_back({ m_slot[i], a, b, step.lag, step.time });
            if (m_lastUse[i] == 0) { // nobody waits for it
                m_lastUse[i] = kFreed;
                m_free.push_back(m_slot[i]);
            }
        }
        m_out.stretches.push_back({ begin, static_cast<std::uint32_t>(m_out.steps.size()), 1, 0, {}, {} });
    }

    /// Which steps, counted from the beginning of a repetition and thus negative, it or those after the last one read.
    /// False where they are so many that repeating would not pay.
    bool findCarried(const Repeated &part)
    {
        const auto length = static_cast<StepNumber>(part.length);
        const auto first = static_cast<StepNumber>(part.first), end = static_cast<StepNumber>(part.end());
        m_carried.clear();
        const auto add = [&](StepNumber offset) {
            for (; offset < 0; offset += length)
                m_carried.push_back(offset);
        };
        for (std::size_t i = part.first; i < part.first + part.length; ++i) {
            add(m_steps[i].a - first);
            add(m_steps[i].b - first);
        }
        for (StepNumber value = first; value < end; ++value)
            if (m_lastUse[static_cast<std::size_t>(value)] >= part.end())
                add(value - end);
        std::ranges::sort(m_carried);
        const auto [from, to] = std::ranges::unique(m_carried);
        m_carried.erase(from, to);
        return !m_carried.empty() && m_carried.size() <= 2 * part.length
            && first + m_carried.front() >= kBeginning; // all that the first one reads is there
    }

    /// Slots of the carried values are their own; those of the steps of one repetition are free behind the last.
    void addRepeated(const Repeated &part)
    {
        const auto first = static_cast<StepNumber>(part.first), length = static_cast<StepNumber>(part.length);
        LaneSteps::Stretch stretch { .first = static_cast<std::uint32_t>(m_out.steps.size()),
            .last = static_cast<std::uint32_t>(m_out.steps.size() + part.length),
            .times = static_cast<std::uint32_t>(part.times),
            .depth = static_cast<std::uint32_t>((length - 1 - m_carried.front()) / length),
            .entry = {},
            .carried = {} };
        std::map<StepNumber, std::uint16_t> home;
        for (const StepNumber offset : m_carried) {
            home[offset] = take();
            stretch.entry.push_back({ home[offset], slotOf(first + offset) });
        }
        std::vector<std::uint16_t> made(part.length);
        const auto slotAt = [&](StepNumber offset) {
            return offset < 0 ? home.at(offset) : made[static_cast<std::size_t>(offset)];
        };
        for (std::size_t k = 0; k < part.length; ++k) {
            const ValueStep &step = m_steps[part.first + k];
            made[k] = take();
            m_out.steps.push_back({ made[k], slotAt(step.a - first), slotAt(step.b - first), step.lag, step.time });
        }
        for (const auto &[offset, slot] : home) // rising: what is older is overwritten first
            stretch.carried.push_back({ slot, slotAt(offset + length) });
        m_free.insert(m_free.end(), made.begin(), made.end());
        settleUses(part, home);
        m_out.stretches.push_back(std::move(stretch));
    }

    /// What the repetitions read last is free, as is what they carried for themselves alone.
    void settleUses(const Repeated &part, const std::map<StepNumber, std::uint16_t> &home)
    {
        for (std::size_t i = part.first; i < part.end(); ++i)
            for (const StepNumber value : { m_steps[i].a, m_steps[i].b })
                if (value < static_cast<StepNumber>(part.first))
                    freeAfter(i, value);
        for (const auto &[offset, slot] : home) {
            const auto value = static_cast<std::size_t>(static_cast<StepNumber>(part.end()) + offset);
            if (value >= part.first && m_lastUse[value] >= part.end() && m_lastUse[value] != kFreed)
                m_slot[value] = slot;
            else
                m_free.push_back(slot);
        }
    }

    static constexpr std::size_t kFreed = std::numeric_limits<std::size_t>::max();

    const std::vector<ValueStep> &m_steps;
    const std::vector<StepNumber> &m_ends;
    LaneSteps &m_out;
    std::vector<std::uint16_t> m_slot; // [value]
    std::vector<std::size_t> m_lastUse; // [value]: 0 = none
    std::vector<std::uint16_t> m_free;
    std::vector<StepNumber> m_carried; // of the stretch at hand
    std::size_t m_slots = 1;
};

} // namespace

std::int64_t LaneSteps::stepCount() const
{
    std::int64_t sum = 0;
    for (const Stretch &stretch : stretches)
        sum += std::int64_t(stretch.last - stretch.first) * stretch.times;
    return sum;
}

std::optional<LaneSteps> laneSteps(const TaskGraph &graph)
{
    constexpr std::size_t kMost = 50'000'000;
    if (graph.steps.size() != graph.taskCount() || graph.pred.size() > kMost)
        return std::nullopt;
    LaneSteps out;
    const LaneStepList list(graph, out);
    SlotAllocation slots(list.steps, list.ends, out);
    if (list.isTooMany())
        return std::nullopt;
    slots.run(findRepeated(list.steps));
    return slots.isTooMany() ? std::nullopt : std::optional(std::move(out));
}

} // namespace trainyard
