// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/score/least_time.h"

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// The ways of micro-batches through their chain.
class Ways {
public:
    explicit Ways(const Chain &chain)
        : m_chain(chain)
        , m_length(stagesInChain(chain.placement, chain.devices, chain.chunks))
    {
        const int count = int(chain.stages.size());
        arrival.resize(std::size_t(count));
        gradient = after = arrival;
        for (int first = 0; first < count; first += m_length)
            follow(std::size_t(first), std::size_t(first + m_length));
    }

    [[nodiscard]] std::size_t slot(int device, int chunk) const
    {
        return std::size_t(virtualStageAt(m_chain.placement, m_chain.devices, device, chunk));
    }
    [[nodiscard]] bool isLast(std::size_t q) const { return (int(q) + 1) % m_length == 0; }
    [[nodiscard]] double passBack(std::size_t q) const
    {
        const ChainStage &stage = m_chain.stages[q];
        return stage.gradient + (isLast(q) && !m_chain.recomputesLast ? 0 : stage.recompute);
    }
    /// From the end of a device's last gradient to the end of one on another device that has to follow; kNever: none
    /// has to.
    [[nodiscard]] double between(int device, int other) const
    {
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t first = 0; first < after.size(); first += std::size_t(m_length)) {
            // Further chunks of the device lie behind its first one in the chain, and have longer to go.
            const std::size_t from = firstSlot(device, first), to = firstSlot(other, first);
            if (to >= from)
                return kNever;
            least = std::min(least, after[from] - after[to]);
        }
        return least;
    }

    std::vector<double> arrival; // of the first micro-batch
    std::vector<double> gradient; // from the chain's last forward on: of the first gradient
    std::vector<double> after; // from a gradient's end to the end of the chain's first stage
    double round = 0; // forwards of a chain, of the shorter one

private:
    /// Of the chain that begins there; each has its devices in one direction or the other.
    [[nodiscard]] std::size_t firstSlot(int device, std::size_t first) const
    {
        const auto inChunk = std::size_t(device), devices = std::size_t(m_chain.devices);
        return runsBack(m_chain.placement, int(first / devices)) ? first + devices - 1 - inChunk : first + inChunk;
    }
    void follow(std::size_t first, std::size_t end)
    {
        for (std::size_t q = first + 1; q < end; ++q)
            arrival[q] = arrival[q - 1] + m_chain.stages[q - 1].forward + m_chain.there[q - 1];
        for (std::size_t q = end - 1; q-- > first;)
            gradient[q] = gradient[q + 1] + passBack(q + 1) + m_chain.back[q];
        for (std::size_t q = first + 1; q < end; ++q)
            after[q] = after[q - 1] + passBack(q - 1) + m_chain.back[q - 1];
        const double forwards = arrival[end - 1] + m_chain.stages[end - 1].forward;
        round = first == 0 ? forwards : std::min(round, forwards);
    }

    const Chain &m_chain;
    int m_length;
};

struct Device { // one micro-batch on all its chunks
    double before = std::numeric_limits<double>::infinity(), firstGradient = before, restOfForwards = before;
    double forward = 0, gradient = 0, weightGradient = 0, spared = 0;
};

Device deviceOf(const Chain &chain, const Ways &ways, int d)
{
    Device device;
    for (int c = 0; c < chain.chunks; ++c) {
        const std::size_t q = ways.slot(d, c);
        const ChainStage &stage = chain.stages[q];
        device.before = std::min(device.before, ways.arrival[q]);
        device.firstGradient = std::min(device.firstGradient, ways.gradient[q]);
        device.restOfForwards = std::min(device.restOfForwards, ways.round - ways.arrival[q] - stage.forward);
        device.forward += stage.forward / chain.copies;
        device.gradient += ways.passBack(q) / chain.copies;
        device.weightGradient += stage.weightGradient / chain.copies;
        if (chain.forwardsFirst && ways.isLast(q) && !chain.recomputesLast) {
            device.gradient += stage.recompute;
            device.spared += stage.recompute;
        }
    }
    return device;
}

} // namespace

LeastTime::LeastTime(const Chain &chain)
    : m_ends(std::size_t(1 + *std::ranges::max_element(chain.kindOf)))
    , m_copies(chain.copies)
{
    const Ways ways(chain);
    for (int d = 0; d < chain.devices; ++d) {
        const Device device = deviceOf(chain, ways, d);
        Line gradients { device.firstGradient - device.spared, device.gradient };
        if (chain.forwardsFirst) {
            add(m_forwards, { device.before + device.restOfForwards, device.forward });
        } else {
            gradients = { device.before, device.forward + device.gradient };
            if (!chain.forwardsBefore.empty()) {
                double done = 0;
                for (int c = 0; c < chain.chunks; ++c)
                    done +=
                        chain.forwardsBefore[std::size_t(d)][std::size_t(c)] * chain.stages[ways.slot(d, c)].forward;
                gradients.at = std::max(gradients.at, ways.round + device.firstGradient - done);
            }
        }
        for (int other = 0; other < chain.devices; ++other) {
            auto &ends = m_ends[std::size_t(chain.kindOf[std::size_t(other)])];
            if (other == d)
                add(ends, { gradients.at, gradients.each + device.weightGradient });
            else if (const double rest = ways.between(d, other); rest > kNever)
                add(ends, { gradients.at + rest, gradients.each });
        }
    }
}

/// Of lines that rise alike only the highest counts.
void LeastTime::add(std::vector<Line> &lines, Line line)
{
    for (Line &known : lines)
        if (known.each == line.each) {
            known.at = std::max(known.at, line.at);
            return;
        }
    lines.push_back(line);
}

void LeastTime::ends(int microBatches, std::vector<double> &ends) const
{
    const double count = microBatches - microBatches % m_copies; // each copy has as many
    double forwards = m_forwards.empty() ? 0 : kNever;
    for (const Line &line : m_forwards)
        forwards = std::max(forwards, line.of(count));
    ends.assign(m_ends.size(), 0);
    for (std::size_t kind = 0; kind < m_ends.size(); ++kind)
        for (const Line &line : m_ends[kind])
            ends[kind] = std::max(ends[kind], forwards + line.of(count));
}

} // namespace trainyard
