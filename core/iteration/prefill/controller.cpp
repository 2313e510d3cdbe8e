// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/controller.h"

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

struct Offer { // the earliest end that a group may reach; lower groups first where they are equal
    Nanoseconds end = kNever;
    std::uint32_t group = 0;
    auto operator<=>(const Offer &) const = default;
};

class Controller {
public:
    explicit Controller(const ServingPlan &plan)
        : m_plan(plan)
        , m_offers(plan.sizes.size())
        , m_isHeld(plan.sizes.size(), false)
        , m_service(plan.sizes.size(), kNever)
    {
        Nanoseconds shortest = kNever;
        for (const PromptSize &size : plan.sizes)
            for (const SliceTime &slice : size.onKind)
                shortest = std::min(shortest, slice.slot());
        std::vector<std::shared_ptr<GapTree>> untouched;
        for (const auto &windows : plan.windows)
            untouched.push_back(std::make_shared<GapTree>(windows, plan.period, shortest));
        for (const ServingGroup &group : plan.groups) {
            m_firstMember.push_back(m_gaps.size());
            for (const ServingGroup::Member &member : group.members)
                m_gaps.push_back(untouched[std::size_t(member.windows)]);
        }
        for (std::size_t size = 0; size < plan.sizes.size(); ++size)
            openOffers(size);
    }

    void place(std::uint32_t index, const SizedRequest &request)
    {
        auto &offers = m_offers[std::size_t(request.size)];
        if (offers.empty() || !m_isHeld[std::size_t(request.size)]) {
            count(offers.empty() && !m_plan.groups.empty() ? Refusal::Memory : Refusal::Window);
            return;
        }
        const Nanoseconds latest = request.arrival + m_plan.slo;
        Offer best;
        m_asked.clear();
        // Ask whoever might still be earlier than the best so far; none is earlier than one that need not wait.
        const Nanoseconds soonest = request.arrival + m_service[std::size_t(request.size)];
        while (!offers.empty() && offers.front().end <= latest && offers.front() < best && best.end > soonest) {
            std::ranges::pop_heap(offers, std::greater {});
            Offer offer = offers.back();
            offers.pop_back();
            offer.end = earliestEnd(offer.group, request, std::min(latest, best.end));
            m_asked.push_back(offer);
            if (offer.end <= latest && offer < best) {
                best = offer;
                std::swap(m_fits, m_bestFits);
            }
        }
        for (Offer offer : m_asked) {
            if (best.end != kNever && offer.group == best.group)
                offer.end = take(best.group, request);
            offers.push_back(offer);
            std::ranges::push_heap(offers, std::greater {});
        }
        if (best.end == kNever) {
            count(offers.front().end == kNever ? Refusal::Full : Refusal::Late);
            return;
        }
        m_book.accepted.push_back({ index, best.group, best.end - request.arrival });
    }

    AdmittedRequests finish() { return std::move(m_book); }

private:
    /// A heap of the groups with memory for such prompts, all of them yet to be asked.
    void openOffers(std::size_t size)
    {
        for (std::uint32_t g = 0; g < m_plan.groups.size(); ++g) {
            const ServingGroup &group = m_plan.groups[g];
            if (m_plan.weightSlice + 2 * m_plan.sizes[size].kvSlice > group.room)
                continue;
            m_offers[size].push_back({ 0, g });
            m_service[size] = std::min(m_service[size], serviceOf(size, group));
            m_isHeld[size] =
                m_isHeld[size] || std::ranges::all_of(group.members, [&](const ServingGroup::Member &member) {
                    const Nanoseconds slot = sliceOf(size, member).slot();
                    const auto &windows = m_plan.windows[std::size_t(member.windows)];
                    return std::ranges::any_of(windows, [&](const FreeWindow &w) { return w.length() >= slot; });
                });
        }
    }

    /// From the first slice to the first token where nothing has to wait.
    [[nodiscard]] Nanoseconds serviceOf(std::size_t size, const ServingGroup &group) const
    {
        const SliceTime &last = sliceOf(size, group.members.back());
        Nanoseconds sum = (m_plan.firstTokenFromDecode ? last.kvMove : 0) - last.hop;
        for (const ServingGroup::Member &member : group.members)
            sum += sliceOf(size, member).compute + sliceOf(size, member).hop;
        return sum;
    }

    [[nodiscard]] const SliceTime &sliceOf(std::size_t size, const ServingGroup::Member &member) const
    {
        return m_plan.sizes[size].onKind[std::size_t(member.kind)];
    }

    /// When the group could give the first token at the earliest; its places are then in m_fits. Gives up with a lower
    /// bound once that is past `latest`, and with kNever where a member has no such gap left.
    Nanoseconds earliestEnd(std::uint32_t index, const SizedRequest &request, Nanoseconds latest)
    {
        const ServingGroup &group = m_plan.groups[index];
        const std::size_t first = m_firstMember[index];
        Nanoseconds time = request.arrival, end = time;
        m_fits.resize(group.members.size());
        for (std::size_t j = 0; j < group.members.size(); ++j) {
            const SliceTime &slice = sliceOf(std::size_t(request.size), group.members[j]);
            const auto fit = m_gaps[first + j]->firstFit(time, slice.slot());
            if (!fit)
                return kNever;
            m_fits[j] = *fit;
            end = fit->start + slice.compute;
            time = end + slice.hop;
            if (j + 1 == group.members.size())
                return end + (m_plan.firstTokenFromDecode ? slice.kvMove : 0);
            const Nanoseconds bound = j == 0 ? fit->start + m_service[std::size_t(request.size)] : end;
            if (bound > latest)
                return bound;
        }
        return end;
    }

    /// Takes the places found; when the group could end its next prompt of this length at the earliest.
    Nanoseconds take(std::uint32_t index, const SizedRequest &request)
    {
        const ServingGroup &group = m_plan.groups[index];
        Nanoseconds next = 0;
        for (std::size_t j = 0; j < group.members.size(); ++j) {
            const SliceTime &slice = sliceOf(std::size_t(request.size), group.members[j]);
            std::shared_ptr<GapTree> &gaps = m_gaps[m_firstMember[index] + j];
            if (gaps.use_count() > 1)
                gaps = std::make_shared<GapTree>(*gaps);
            gaps->take(m_bestFits[j], slice.slot());
            m_book.sliceStarts.push_back(m_bestFits[j].start);
            next =
                m_bestFits[j].start + slice.slot() + slice.compute + (m_plan.firstTokenFromDecode ? slice.kvMove : 0);
        }
        return next;
    }

    void count(Refusal refusal) { ++m_book.refused[std::size_t(refusal)]; }

    const ServingPlan &m_plan;
    std::vector<std::size_t> m_firstMember; // group -> into m_gaps
    std::vector<std::shared_ptr<GapTree>> m_gaps; // shared while untouched
    std::vector<std::vector<Offer>> m_offers; // per size: a heap, earliest first
    std::vector<bool> m_isHeld; // per size: a window of some group holds its slices
    std::vector<Nanoseconds> m_service; // per size: the shortest of any group, without wait
    std::vector<GapTree::Fit> m_fits, m_bestFits;
    std::vector<Offer> m_asked;
    AdmittedRequests m_book;
};

} // namespace

AdmittedRequests admitRequests(
    const ServingPlan &plan, const std::vector<SizedRequest> &requests, const std::stop_token &stop)
{
    constexpr std::uint32_t kRequestsPerStopCheck = 1024;
    Controller controller(plan);
    for (std::uint32_t i = 0; i < requests.size(); ++i) {
        if (i % kRequestsPerStopCheck == 0 && stop.stop_requested())
            break;
        controller.place(i, requests[i]);
    }
    return controller.finish();
}

} // namespace trainyard
