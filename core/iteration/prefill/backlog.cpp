// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/backlog.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

constexpr std::uint32_t kRequestsPerStopCheck = 1024;
constexpr double kSteadyShare = 1e-3;

/// What one iteration tells of its requests.
struct Summary {
    std::size_t accepted = 0;
    std::array<Nanoseconds, 3> ttfts {};

    [[nodiscard]] bool isNear(const Summary &other) const
    {
        const auto near = [](double a, double b) { return std::abs(a - b) <= kSteadyShare * std::max(a, b); };
        bool isNear = near(double(accepted), double(other.accepted));
        for (std::size_t i = 0; i < ttfts.size(); ++i)
            isNear = isNear && near(double(ttfts[i]), double(other.ttfts[i]));
        return isNear;
    }
};

double heldByGroup(const ServingPlan &plan, std::size_t size, const ServingGroup &group)
{
    if (!plan.hasRoom(size, group))
        return 0;
    double least = INFINITY;
    for (std::size_t j = 0; j < group.members.size(); ++j) {
        const ServingGroup::Member &member = group.members[j];
        if (j > 0 && member == group.members[j - 1])
            continue;
        double held = 0;
        for (const FreeWindow &window : plan.windows[std::size_t(member.windows)])
            held += double(window.length() / plan.slice(size, member).slot());
        least = std::min(least, held);
    }
    return least;
}

/// More arrives than bubbles hold, and the decode pool takes what they hold.
bool fillsBubbles(const ServingPlan &plan, const FillLoad &load)
{
    const double decoded =
        plan.decode ? double(plan.decode->requests) * double(plan.period) / double(plan.decode->stay) : INFINITY;
    return load.isSaturated() && decoded > load.held;
}

class Backlog {
public:
    Backlog(const ServingPlan &plan, const std::vector<SizedRequest> &requests, const std::stop_token &stop)
        : m_plan(plan)
        , m_requests(requests)
        , m_stop(stop)
        , m_isSaturated(plan.repeats && fillsBubbles(plan, fillLoad(plan, requests)))
        , m_takenUntil(m_isSaturated ? longestQueue() : 0)
        , m_controller(plan, m_takenUntil)
        , m_answers(requests.size())
        , m_differsUntil(m_isSaturated ? m_takenUntil + plan.period : 0)
    {
    }

    AdmittedRequests run()
    {
        AdmittedRequests book;
        Nanoseconds now = 0;
        Summary last;
        int near = 0;
        for (bool isDone = m_requests.empty(); !isDone;) {
            now = iterate(book.iterations++);
            if (m_stop.stop_requested())
                return book;
            book.isSettled = m_isSame || !m_plan.repeats;
            isDone = book.isSettled || book.iterations == kMostFillIterations
                || m_placed > kMostCarriedRequests + std::int64_t(m_requests.size());
            if (isDone)
                break;
            const Summary summary = summaryOf();
            near = book.iterations > 1 && summary.isNear(last) ? near + 1 : 0;
            last = summary;
            book.isSettled = isDone = near == 2;
            if (!isDone)
                forgetBefore(now - m_plan.period);
        }
        book.isSettled = book.isSettled || m_requests.empty();
        book.isSaturated = m_isSaturated;
        tell(book, now);
        return book;
    }

private:
    struct Answer {
        /// index into m_served, or -1
        std::int64_t served = -1;
        Refusal refusal = Refusal::Window;
    };
    struct Served {
        std::uint32_t request = 0, group = 0;
        Nanoseconds arrival = 0, firstToken = 0;
    };

    /// Of which the last request is just in time.
    [[nodiscard]] Nanoseconds longestQueue() const
    {
        Nanoseconds shortest = m_plan.slo;
        for (std::size_t size = 0; size < m_plan.sizes.size(); ++size)
            for (const ServingGroup &group : m_plan.groups)
                shortest = std::min(shortest, m_plan.serviceTime(size, group));
        return std::max<Nanoseconds>(0, m_plan.slo - shortest);
    }

    /// Until when it was simulated: the end of the iteration, or when the rest of it was known to be like the last.
    Nanoseconds iterate(int iteration)
    {
        const Nanoseconds begin = iteration * m_plan.period;
        for (std::uint32_t i = 0; i < m_requests.size(); ++i) {
            const Nanoseconds arrival = begin + m_requests[i].arrival;
            m_isSame = iteration > 0 && arrival >= m_differsUntil;
            if (m_isSame)
                return arrival;
            if (i % kRequestsPerStopCheck == 0 && m_stop.stop_requested())
                break;
            answer(i, arrival);
        }
        return begin + m_plan.period;
    }

    void answer(std::uint32_t index, Nanoseconds arrival)
    {
        ++m_placed;
        Answer &before = m_answers[index], now;
        const auto placement =
            m_controller.place(std::size_t(m_requests[index].size), arrival, m_requests[index].waited);
        if (placement) {
            now.served = std::int64_t(m_served.size());
            m_served.push_back({ index, placement->group, arrival, placement->firstToken });
            m_starts.insert(m_starts.end(), m_controller.starts().begin(), m_controller.starts().end());
        } else {
            now.refusal = placement.error();
        }
        if (!isAlike(before, now)) {
            for (const auto &[served, later] : { std::pair(before.served, m_plan.period), { now.served, 0 } })
                if (served >= 0)
                    m_differsUntil = std::max(m_differsUntil, takenUntil(std::size_t(served)) + later);
        }
        before = now;
    }

    /// Groups of one shape serve alike.
    [[nodiscard]] bool isAlike(const Answer &before, const Answer &now) const
    {
        if (before.served < 0 || now.served < 0)
            return before.served == now.served;
        const Served &a = m_served[std::size_t(before.served)], &b = m_served[std::size_t(now.served)];
        if (a.firstToken - a.arrival != b.firstToken - b.arrival
            || m_controller.shapeOf(a.group) != m_controller.shapeOf(b.group))
            return false;
        const Nanoseconds *was = startsOf(before.served), *is = startsOf(now.served);
        for (std::size_t j = 0; j < members(); ++j)
            if (was[j] - a.arrival != is[j] - b.arrival)
                return false;
        return true;
    }

    /// of a group; 0 where no GPUs can serve
    [[nodiscard]] std::size_t members() const
    {
        return m_plan.groups.empty() ? 0 : m_plan.groups.front().members.size();
    }
    [[nodiscard]] const Nanoseconds *startsOf(std::int64_t served) const
    {
        return &m_starts[std::size_t(served) * members()];
    }
    [[nodiscard]] const SliceTime &sliceOf(const Served &served, std::size_t member) const
    {
        return m_plan.slice(std::size_t(m_requests[served.request].size), m_plan.groups[served.group].members[member]);
    }

    [[nodiscard]] Nanoseconds takenUntil(std::size_t index) const
    {
        const Nanoseconds *starts = startsOf(std::int64_t(index));
        Nanoseconds last = 0;
        for (std::size_t j = 0; j < members(); ++j)
            last = std::max(last, starts[j] + sliceOf(m_served[index], j).slot());
        if (m_plan.decode) {
            const SliceTime &slice = sliceOf(m_served[index], members() - 1);
            last = std::max(last, starts[members() - 1] + slice.compute + slice.kvMove + m_plan.decode->stay);
        }
        return last;
    }

    [[nodiscard]] Summary summaryOf() const
    {
        std::vector<Nanoseconds> ttfts;
        for (const Answer &answer : m_answers)
            if (answer.served >= 0) {
                const Served &served = m_served[std::size_t(answer.served)];
                ttfts.push_back(served.firstToken - served.arrival);
            }
        std::ranges::sort(ttfts);
        Summary summary { ttfts.size(), {} };
        if (!ttfts.empty())
            summary.ttfts = { quantile(ttfts, 0.5), quantile(ttfts, 0.95), quantile(ttfts, 0.99) };
        return summary;
    }

    /// Drops what is served by then, but for the answers of the last iteration.
    void forgetBefore(Nanoseconds time)
    {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < m_served.size(); ++i) {
            const bool isAnswer = m_answers[m_served[i].request].served == std::int64_t(i);
            if (!isAnswer && takenUntil(i) <= time)
                continue;
            if (isAnswer)
                m_answers[m_served[i].request].served = std::int64_t(kept);
            std::copy_n(startsOf(std::int64_t(i)), members(), m_starts.begin() + std::ptrdiff_t(kept * members()));
            m_served[kept++] = m_served[i];
        }
        m_served.resize(kept);
        m_starts.resize(kept * members());
    }

    void tell(AdmittedRequests &book, Nanoseconds now) const
    {
        for (std::size_t i = 0; i < m_answers.size(); ++i) {
            const Answer &answer = m_answers[i];
            if (answer.served < 0) {
                book.refused[std::size_t(answer.refusal)] += m_plan.sizes[std::size_t(m_requests[i].size)].prompts;
                continue;
            }
            const Served &served = m_served[std::size_t(answer.served)];
            book.accepted.push_back({ served.request, served.group, served.firstToken - served.arrival,
                *startsOf(answer.served) - served.arrival });
        }
        if (!m_served.empty())
            tellSlices(book, now);
    }

    /// Of the last period; of one whole iterations later where before it all was taken from the start.
    void tellSlices(AdmittedRequests &book, Nanoseconds now) const
    {
        const Nanoseconds period = m_plan.period, missing = m_takenUntil - (now - period);
        const Nanoseconds end = now + std::max<Nanoseconds>(0, (missing + period - 1) / period) * period;
        for (std::size_t i = 0; i < m_served.size(); ++i) {
            const Nanoseconds *starts = startsOf(std::int64_t(i));
            for (std::uint32_t j = 0; j < members(); ++j) {
                const Nanoseconds from = std::max(starts[j], end - period);
                const Nanoseconds to = std::min(starts[j] + sliceOf(m_served[i], j).compute, end);
                if (from < to)
                    book.slices.push_back({ m_served[i].group, j, from % period, from % period + to - from });
            }
        }
    }

    const ServingPlan &m_plan;
    const std::vector<SizedRequest> &m_requests;
    const std::stop_token &m_stop;
    bool m_isSaturated;
    Nanoseconds m_takenUntil;
    Controller m_controller;
    /// of each request, in its last iteration
    std::vector<Answer> m_answers;
    std::vector<Served> m_served;
    /// of each, one a member
    std::vector<Nanoseconds> m_starts;
    /// From then on gaps are those of one iteration before.
    Nanoseconds m_differsUntil;
    std::int64_t m_placed = 0;
    bool m_isSame = false;
};

} // namespace

FillLoad fillLoad(const ServingPlan &plan, const std::vector<SizedRequest> &requests)
{
    std::map<ServingGroup, double> shapes; // how many groups are alike
    for (const ServingGroup &group : plan.groups)
        ++shapes[group];
    std::vector<std::int64_t> arrive(plan.sizes.size(), 0);
    for (const SizedRequest &request : requests)
        ++arrive[std::size_t(request.size)];
    FillLoad load;
    double periods = 0; // in which all that arrives can be served
    for (std::size_t size = 0; size < plan.sizes.size(); ++size) {
        double held = 0;
        for (const auto &[group, count] : shapes)
            held += count * heldByGroup(plan, size, group);
        if (held <= 0)
            continue;
        load.arrive += arrive[size] * plan.sizes[size].prompts;
        periods += double(arrive[size]) / held;
    }
    load.held = periods > 0 ? double(load.arrive) / periods : 0;
    return load;
}

Nanoseconds quantile(const std::vector<Nanoseconds> &sorted, double q)
{
    const auto rank = std::size_t(std::ceil(q * double(sorted.size())));
    return sorted[std::max<std::size_t>(rank, 1) - 1];
}

AdmittedRequests admitRequests(
    const ServingPlan &plan, const std::vector<SizedRequest> &requests, const std::stop_token &stop)
{
    return Backlog(plan, requests, stop).run();
}

} // namespace trainyard
