// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/expert_loads.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

namespace trainyard {

namespace {

/// What the ranks of a group compute between two of their exchanges.
struct Bracket {
    bool isExpert = false;
    std::map<std::uint32_t, std::vector<std::uint32_t>> works; // by rank
};

class BracketFinder {
public:
    BracketFinder(const Run &run, const StepReplay &replay)
        : m_run(run)
        , m_replay(replay)
    {
    }

    std::vector<Bracket> find()
    {
        countExchanges();
        std::map<std::uint32_t, std::pair<std::uint32_t, int>> now; // rank: group and number of its last exchange
        const std::vector<ReplayWork> &works = m_replay.works();
        for (std::uint32_t i = 0; i < works.size(); ++i) {
            const ReplayWork &work = works[i];
            if (isExchange(work)) {
                const std::uint32_t group = m_run.collectives[work.matched].group;
                int &seen = m_seen[{ work.rank, group, work.step }];
                const bool isPaired = m_exchanges[{ work.rank, group, work.step }] % 2 == 0;
                now[work.rank] = { isPaired ? group : kNoIndex, seen++ };
                continue;
            }
            const auto last = now.find(work.rank);
            if (work.work != RecordedWork::Compute || last == now.end() || last->second.first == kNoIndex)
                continue;
            const auto [group, number] = last->second;
            const bool isLast = number + 1 == m_exchanges[{ work.rank, group, work.step }];
            if (isLast) // up to the end of the step there are other kernels too
                continue;
            Bracket &own = m_brackets[{ group, work.step, number }];
            own.isExpert = number % 2 == 0;
            own.works[work.rank].push_back(i);
        }
        std::vector<Bracket> found;
        for (auto &[key, bracket] : m_brackets)
            if (bracket.works.size() > 1)
                found.push_back(std::move(bracket));
        return found;
    }

private:
    [[nodiscard]] bool isExchange(const ReplayWork &work) const
    {
        return work.matched != kNoIndex
            && std::string_view(m_run.recording->names[m_run.collectives[work.matched].operation])
                   .starts_with("all_to_all");
    }
    void countExchanges()
    {
        for (const ReplayWork &work : m_replay.works())
            if (isExchange(work))
                ++m_exchanges[{ work.rank, m_run.collectives[work.matched].group, work.step }];
    }

    const Run &m_run;
    const StepReplay &m_replay;
    std::map<std::tuple<std::uint32_t, std::uint32_t, int>, int> m_exchanges, m_seen; // rank, group, step
    std::map<std::tuple<std::uint32_t, int, int>, Bracket> m_brackets; // group, step, number
};

/// Squares of what ranks differ from their group's mean, and those means, summed.
struct LoadSpread {
    double squares = 0, means = 0, brackets = 0;
    /// of the rank that all wait for, beyond the mean
    double excess = 0;
    [[nodiscard]] double share() const { return means > 0 ? std::sqrt(squares * brackets) / means : 0; }
};

} // namespace

ExpertLoads expertLoads(const Run &run, const StepReplay &replay)
{
    ExpertLoads loads;
    const std::vector<ReplayWork> &works = replay.works();
    const std::vector<Bracket> brackets = BracketFinder(run, replay).find();
    if (brackets.empty())
        return loads;
    const auto secondsOf = [&](const std::vector<std::uint32_t> &own) {
        double seconds = 0;
        for (const std::uint32_t i : own)
            seconds += static_cast<double>(works[i].duration);
        return seconds;
    };
    const auto meanOf = [&](const Bracket &bracket) {
        double sum = 0;
        for (const auto &[rank, own] : bracket.works)
            sum += secondsOf(own) / static_cast<double>(bracket.works.size());
        return sum;
    };
    LoadSpread experts, others;
    for (const Bracket &bracket : brackets) {
        LoadSpread &spread = bracket.isExpert ? experts : others;
        const double mean = meanOf(bracket);
        double squares = 0, longest = 0;
        for (const auto &[rank, own] : bracket.works) {
            const double seconds = secondsOf(own);
            squares += (seconds - mean) * (seconds - mean) / static_cast<double>(bracket.works.size() - 1);
            longest = std::max(longest, seconds);
        }
        spread.squares += squares;
        spread.means += mean;
        ++spread.brackets;
        spread.excess += longest - mean;
    }
    loads.spread = experts.share();
    loads.usualSpread = others.share();
    loads.mostOverMean = experts.means > 0 ? 1 + experts.excess / experts.means : 1;
    // As far as the longest lies above the mean where no tokens decide, it may here.
    const double kept = experts.excess > 0 && others.means > 0
        ? std::min(1.0, others.excess / others.means * experts.means / experts.excess)
        : 1;
    loads.isExpert.assign(works.size(), false);
    for (const ReplayWork &work : works)
        loads.balanced.push_back(work.duration);
    for (const Bracket &bracket : brackets) {
        const double mean = meanOf(bracket);
        for (const auto &[rank, own] : bracket.works) {
            const double seconds = secondsOf(own);
            const double factor = seconds > 0 ? (mean + kept * (seconds - mean)) / seconds : 1;
            for (const std::uint32_t i : own) {
                loads.isExpert[i] = bracket.isExpert;
                if (bracket.isExpert)
                    loads.balanced[i] = std::llround(static_cast<double>(works[i].duration) * factor);
            }
        }
    }
    return loads;
}

} // namespace trainyard
