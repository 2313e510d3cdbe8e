// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/work_of_ranks.h"

#include "core/base/median.h"
#include "core/runs/overlay/median_of_others.h"
#include "core/runs/overlay/pipeline_depths.h"
#include "core/runs/overlay/span_index.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace trainyard {

namespace {

constexpr std::size_t kMostStepsOfRank = 32;

struct Kernel { // all of one name on one rank
    std::size_t count = 0;
    double median = 0, error = 0; // seconds; error: of the median, as a share of it
};
using Kernels = std::map<std::uint32_t, Kernel>;

class Worker {
public:
    Worker(const Run &run, const RankMap &map)
        : m_run(run)
        , m_recording(*run.recording)
        , m_like(likesOf(run, map))
        , m_work(m_recording.ranks.size())
        , m_kernels(m_recording.ranks.size())
    {
        chooseSteps();
        for (const RunStep *step : m_steps) {
            std::vector<const RankWindow *> &windows = m_windows.emplace_back(m_work.size(), nullptr);
            for (const RankWindow &window : step->ranks)
                if (!windows[window.rank]) // the first
                    windows[window.rank] = &window;
        }
    }

    std::vector<WorkOfRank> work()
    {
        for (std::uint32_t r = 0; r < m_work.size(); ++r)
            measureKernels(r);
        gatherLikes();
        for (std::uint32_t r = 0; r < m_work.size(); ++r)
            compareKernels(r);
        walkCollectives();
        std::vector<WorkOfRank> result;
        for (const WorkOfRank &one : m_work)
            if (one.rank >= 0 && one.steps > 0)
                result.push_back(one);
        return result;
    }

private:
    /// Those that count; of many some, evenly.
    void chooseSteps()
    {
        for (const bool all : { false, true }) {
            for (const RunStep &step : m_run.steps)
                if (step.hasSpans() && (all || (!step.isWarmUp && !step.isOutlier)))
                    m_steps.push_back(&step);
            if (!m_steps.empty())
                break;
        }
        const std::size_t stride = (m_steps.size() + kMostStepsOfRank - 1) / kMostStepsOfRank;
        for (std::size_t i = 0; stride > 1 && i * stride < m_steps.size(); ++i)
            m_steps[i] = m_steps[i * stride];
        if (stride > 1)
            m_steps.resize((m_steps.size() + stride - 1) / stride);
    }

    [[nodiscard]] Moment shiftOf(std::uint32_t r) const
    {
        return r < m_run.clockShift.size() ? m_run.clockShift[r] : 0;
    }

    void measureKernels(std::uint32_t r)
    {
        const RankRecording &rank = m_recording.ranks[r];
        WorkOfRank &work = m_work[r];
        work.rank = rank.rank;
        std::map<std::uint32_t, std::vector<double>> durations;
        std::vector<double> sums;
        for (const auto &windows : m_windows) {
            const RankWindow *window = windows[r];
            if (!window)
                continue;
            double sum = 0;
            for (const RecordedStream &stream : rank.streams) {
                const RecordedSpans &spans = stream.spans;
                const auto first = std::ranges::lower_bound(spans.start, window->start - shiftOf(r));
                for (auto i = static_cast<std::size_t>(first - spans.start.begin());
                     stream.isGpu && i < spans.size() && spans.start[i] < window->end - shiftOf(r); ++i)
                    if (spans.work[i] == RecordedWork::Compute) {
                        const double seconds = static_cast<double>(spans.duration[i]) * 1e-9;
                        durations[spans.name[i]].push_back(seconds);
                        sum += seconds;
                    }
            }
            sums.push_back(sum);
        }
        work.steps = static_cast<int>(sums.size());
        work.computeSeconds = medianOf(std::move(sums));
        for (auto &[name, seconds] : durations) {
            Kernel &kernel = m_kernels[r][name];
            kernel.count = seconds.size();
            kernel.median = medianOf(seconds);
            const double error =
                kMedianError * medianDistance(seconds, kernel.median) / std::sqrt(double(kernel.count));
            kernel.error = kernel.median > 0 ? std::max(error / kernel.median, 1e-4) : 0;
        }
    }

    /// Ranks that do the same, and what their kernels of a name take, from the least.
    struct Likes {
        struct Values {
            std::vector<double> medians, errors;
        };
        int ranks = 0;
        std::map<std::uint32_t, Values> kernels;
    };

    void gatherLikes()
    {
        for (std::uint32_t r = 0; r < m_work.size(); ++r) {
            if (m_like[r] < 0 || m_work[r].steps == 0)
                continue;
            Likes &likes = m_likes[m_like[r]];
            ++likes.ranks;
            for (const auto &[name, kernel] : m_kernels[r]) {
                likes.kernels[name].medians.push_back(kernel.median);
                likes.kernels[name].errors.push_back(kernel.error);
            }
        }
        for (auto &[like, likes] : m_likes)
            for (auto &[name, values] : likes.kernels) {
                std::ranges::sort(values.medians);
                std::ranges::sort(values.errors);
            }
    }

    /// By the names that it and its likes have, each weighted by its time.
    void compareKernels(std::uint32_t r)
    {
        const auto known = m_likes.find(m_like[r]);
        WorkOfRank &work = m_work[r];
        work.likes = known == m_likes.end() ? 0 : known->second.ranks - (work.steps > 0 ? 1 : 0);
        double own = 0, others = 0, variance = 0;
        for (const auto &[name, kernel] : m_kernels[r]) {
            if (known == m_likes.end())
                break;
            const Likes::Values &values = known->second.kernels.at(name);
            if (values.medians.size() < 2)
                continue;
            const double spread =
                medianOfOthers(values.errors, kernel.error) / std::sqrt(double(values.medians.size() - 1));
            const double usual = medianOfOthers(values.medians, kernel.median);
            const double count = static_cast<double>(kernel.count);
            own += count * kernel.median;
            others += count * usual;
            variance += count * usual * count * usual * (kernel.error * kernel.error + spread * spread);
        }
        if (others > 0) {
            work.computeRatio = own / others;
            work.computeError = std::sqrt(variance) / others;
        }
    }

    struct Late {
        std::vector<double> late; // [step] seconds
        std::vector<double> waits; // [step] seconds that others wait for it, all together
        std::set<std::uint32_t> waiting;
        int last = 0, entered = 0;
        double chance = 0, variance = 0; // sums over the collectives
    };

    [[nodiscard]] std::size_t stepAt(Moment moment) const
    {
        for (std::size_t i = 0; i < m_steps.size(); ++i)
            if (moment >= m_steps[i]->start && moment < m_steps[i]->end)
                return i;
        return m_steps.size();
    }

    /// Which collective let a rank go on its way to another one, and when; kNoIndex: a transfer, or what is not
    /// matched.
    struct Release {
        Moment at = kNoMoment;
        std::uint32_t matched = kNoIndex; // of Run::collectives
    };
    [[nodiscard]] std::vector<Release> releasesOf(
        const RankRecording &rank, const std::vector<std::uint32_t> &matchedOf) const
    {
        std::vector<Release> ends, releases;
        for (std::size_t i = 0; i < rank.collectives.size(); ++i)
            ends.push_back({ rank.collectives[i].start + rank.collectives[i].duration, matchedOf[i] });
        std::ranges::stable_sort(ends, {}, &Release::at);
        for (const RecordedCollective &one : rank.collectives) {
            const auto behind = std::ranges::upper_bound(ends, one.start, {}, &Release::at);
            releases.push_back(behind == ends.begin() ? Release() : *(behind - 1));
        }
        return releases;
    }

    void walkCollectives()
    {
        std::vector<std::vector<std::uint32_t>> matchedOf;
        for (const RankRecording &rank : m_recording.ranks)
            matchedOf.emplace_back(rank.collectives.size(), kNoIndex);
        for (std::uint32_t i = 0; i < m_run.collectives.size(); ++i)
            if (!isTransferName(m_recording.names[m_run.collectives[i].operation]))
                for (const MatchedCollective::Part &part : m_run.collectives[i].parts)
                    matchedOf[part.rank][part.collective] = i;
        std::vector<std::vector<Release>> releases;
        for (std::size_t r = 0; r < m_recording.ranks.size(); ++r)
            releases.push_back(releasesOf(m_recording.ranks[r], matchedOf[r]));
        std::vector<Late> lates(m_work.size());
        for (Late &one : lates) {
            one.late.assign(m_steps.size(), 0);
            one.waits.assign(m_steps.size(), 0);
        }
        for (const MatchedCollective &one : m_run.collectives) {
            if (isTransferName(m_recording.names[one.operation]))
                continue;
            const MatchedCollective::Part front = one.parts.front();
            const std::size_t step =
                stepAt(m_recording.ranks[front.rank].collectives[front.collective].start + shiftOf(front.rank));
            if (step < m_steps.size())
                walk(one, step, releases, lates);
        }
        for (std::uint32_t r = 0; r < m_work.size(); ++r)
            finishLate(m_work[r], lates[r]);
    }

    void walk(const MatchedCollective &one, std::size_t step, const std::vector<std::vector<Release>> &releases,
        std::vector<Late> &lates)
    {
        const auto entered = [&](const MatchedCollective::Part &part) {
            return m_recording.ranks[part.rank].collectives[part.collective].start + shiftOf(part.rank);
        };
        const auto last = std::ranges::max_element(one.parts, {}, entered);
        for (const MatchedCollective::Part &part : one.parts) {
            Late &own = lates[part.rank];
            const double chance = 1 / double(one.parts.size());
            own.chance += chance;
            own.variance += chance * (1 - chance);
            ++own.entered;
            if (part.rank == last->rank)
                ++own.last;
            else if (const Moment wait = entered(*last) - entered(part); wait > 0) {
                lates[last->rank].waits[step] += static_cast<double>(wait) * 1e-9;
                lates[last->rank].waiting.insert(part.rank);
            }
        }
        compareWays(one, step, releases, lates);
    }

    /// How long each is on its way from the collective that let it go to this one, beside those like it that the same
    /// one let go.
    void compareWays(const MatchedCollective &one, std::size_t step, const std::vector<std::vector<Release>> &releases,
        std::vector<Late> &lates)
    {
        struct Way {
            double seconds = 0;
            std::uint32_t rank = 0;
        };
        std::map<std::pair<int, std::uint32_t>, std::vector<Way>> ways; // by like and release
        for (const MatchedCollective::Part &part : one.parts) {
            const Release &release = releases[part.rank][part.collective];
            const Moment start = m_recording.ranks[part.rank].collectives[part.collective].start;
            if (release.matched != kNoIndex && m_like[part.rank] >= 0)
                ways[{ m_like[part.rank], release.matched }].push_back(
                    { static_cast<double>(start - release.at) * 1e-9, part.rank });
        }
        for (auto &[key, all] : ways) {
            std::ranges::stable_sort(all, {}, &Way::seconds);
            const std::size_t others = all.size() - 1;
            for (std::size_t i = 0; others > 0 && i < all.size(); ++i) {
                const auto other = [&](std::size_t k) { return all[k < i ? k : k + 1].seconds; }; // the k-th without it
                lates[all[i].rank].late[step] += all[i].seconds - (other(others / 2) + other((others - 1) / 2)) / 2;
            }
        }
    }

    void finishLate(WorkOfRank &work, const Late &late)
    {
        work.matches = late.entered;
        if (late.entered == 0)
            return;
        work.shareLast = double(late.last) / late.entered;
        work.lastByChance = late.chance / late.entered;
        work.lastError = std::sqrt(late.variance) / late.entered;
        work.lateSeconds = medianOf(late.late);
        work.lateError = kMedianError * medianDistance(late.late, work.lateSeconds)
            / std::sqrt(double(std::max<std::size_t>(1, m_steps.size())));
        work.waiting = static_cast<int>(late.waiting.size());
        work.waitSeconds = late.waiting.empty() ? 0 : medianOf(late.waits) / double(late.waiting.size());
    }

    const Run &m_run;
    const Recording &m_recording;
    std::vector<int> m_like;
    std::vector<const RunStep *> m_steps;
    std::vector<WorkOfRank> m_work;
    std::vector<Kernels> m_kernels;
    std::vector<std::vector<const RankWindow *>> m_windows; // [of m_steps][rank], nullptr: it has none
    std::map<int, Likes> m_likes; // by m_like
};

} // namespace

std::vector<WorkOfRank> workOfRanks(const Run &run, const RankMap &map)
{
    return Worker(run, map).work();
}

std::vector<int> likesOf(const Run &run, const RankMap &map)
{
    using Kind = std::tuple<std::string, double, int>; // operation, bytes, ranks
    struct Signature {
        int stage = -1, depth = 0, tensor = 0;
        std::string gpu;
        std::map<Kind, int> collectives;
        auto operator<=>(const Signature &) const = default;
    };
    const Recording &recording = *run.recording;
    std::vector<Signature> signatures(recording.ranks.size());
    const std::vector<int> depths = pipelineDepths(run);
    for (std::size_t r = 0; r < recording.ranks.size(); ++r) {
        const int rank = recording.ranks[r].rank;
        signatures[r].depth = rank >= 0 && rank < map.worldSize() ? 0 : depths[r];
        signatures[r].gpu = recording.ranks[r].gpu;
        if (rank >= 0 && rank < map.worldSize()) {
            const RankPlace place = map.placeOf(rank);
            signatures[r].stage = place.stage;
            signatures[r].tensor = static_cast<int>(map.ranksOf(place.stage, place.replica, 1).size());
        }
    }
    for (const MatchedCollective &one : run.collectives)
        for (const MatchedCollective::Part &part : one.parts)
            if (signatures[part.rank].stage < 0)
                ++signatures[part.rank].collectives[{ recording.names[one.operation], one.bytes, one.groupRanks }];
    std::map<Signature, int> numbers;
    std::vector<int> likes;
    for (std::size_t r = 0; r < signatures.size(); ++r)
        likes.push_back(recording.ranks[r].rank < 0
                ? -1
                : numbers.try_emplace(signatures[r], static_cast<int>(numbers.size())).first->second);
    return likes;
}

} // namespace trainyard
