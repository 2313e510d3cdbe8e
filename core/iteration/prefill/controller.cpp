// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/controller.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

constexpr Nanoseconds kNever = GpuCalendar::Fit::kNever;

Nanoseconds shortestSlot(const ServingPlan &plan)
{
    Nanoseconds shortest = kNever;
    for (const PromptSize &size : plan.sizes)
        for (const SliceTime &slice : size.onKind)
            shortest = std::min(shortest, slice.slot());
    return shortest;
}

} // namespace

Nanoseconds ServingPlan::serviceTime(std::size_t size, const ServingGroup &group) const
{
    const SliceTime &last = slice(size, group.members.back());
    Nanoseconds sum = afterPrefill(last) - last.hop;
    for (const ServingGroup::Member &member : group.members)
        sum += slice(size, member).compute + slice(size, member).hop;
    return sum;
}

Controller::Controller(const ServingPlan &plan, Nanoseconds takenUntil)
    : m_plan(plan)
    , m_offers(plan.sizes.size())
    , m_isHeld(plan.sizes.size(), false)
    , m_service(plan.sizes.size(), kNever)
{
    if (plan.decode)
        m_decode.emplace(plan.decode->requests, plan.decode->stay);
    const Nanoseconds shortest = shortestSlot(plan);
    std::vector<UntouchedIteration> untouched;
    for (const auto &windows : plan.windows)
        untouched.push_back(untouchedIteration(windows, plan.period, shortest, !plan.repeats));
    std::map<ServingGroup, std::uint32_t> shapes;
    for (std::uint32_t g = 0; g < plan.groups.size(); ++g) {
        const ServingGroup &group = plan.groups[g];
        const auto [shape, isNew] = shapes.try_emplace(group, std::uint32_t(shapes.size()));
        m_shapeOf.push_back(shape->second);
        if (isNew) {
            m_groupOf.push_back(g);
            for (Calendars &calendars = m_untouched.emplace_back(); const ServingGroup::Member &member : group.members)
                calendars.emplace_back(untouched[std::size_t(member.windows)]);
        }
        m_firstMember.push_back(m_gpus.size());
        for (const ServingGroup::Member &member : group.members)
            m_gpus.emplace_back(untouched[std::size_t(member.windows)], takenUntil);
    }
    m_alone.assign(plan.sizes.size(), std::vector<Alone>(m_untouched.size()));
    for (std::size_t size = 0; size < plan.sizes.size(); ++size)
        openOffers(size);
}

/// A heap of the groups with memory for such prompts, all of them yet to be asked.
void Controller::openOffers(std::size_t size)
{
    for (std::uint32_t g = 0; g < m_plan.groups.size(); ++g) {
        const ServingGroup &group = m_plan.groups[g];
        if (!m_plan.hasRoom(size, group))
            continue;
        m_offers[size].push_back({ 0, g });
        m_service[size] = std::min(m_service[size], m_plan.serviceTime(size, group));
        m_isHeld[size] = m_isHeld[size] || std::ranges::all_of(group.members, [&](const ServingGroup::Member &member) {
            const Nanoseconds slot = m_plan.slice(size, member).slot();
            const auto &windows = m_plan.windows[std::size_t(member.windows)];
            return std::ranges::any_of(windows, [&](const FreeWindow &w) { return w.length() >= slot; });
        });
    }
}

std::expected<Controller::Placement, Refusal> Controller::place(
    std::size_t size, Nanoseconds arrival, Nanoseconds waited)
{
    std::vector<Offer> &offers = m_offers[size];
    if (offers.empty() || !m_isHeld[size])
        return std::unexpected(offers.empty() && !m_plan.groups.empty() ? Refusal::Memory : Refusal::Window);
    const Nanoseconds latest = arrival - waited + m_plan.slo;
    Offer best;
    m_asked.clear();
    // Ask whoever might still be earlier than the best so far; none is earlier than one that need not wait.
    const Nanoseconds soonest = arrival + m_service[size];
    while (!offers.empty() && offers.front().end <= latest && offers.front() < best && best.end > soonest) {
        std::ranges::pop_heap(offers, std::greater {});
        Offer offer = offers.back();
        offers.pop_back();
        offer.end = earliestEnd(
            m_plan.groups[offer.group], &m_gpus[m_firstMember[offer.group]], size, arrival, std::min(latest, best.end));
        m_asked.push_back(offer);
        if (offer.end <= latest && offer < best) {
            best = offer;
            std::swap(m_fits, m_bestFits);
        }
    }
    const bool isServed = best.end != kNever;
    const int prompts = m_plan.sizes[size].prompts;
    const bool isTaken = isServed && (!m_decode || m_decode->hasRoom(keysArrive(best, size), prompts));
    if (isTaken && m_decode)
        m_decode->take(keysArrive(best, size), prompts, arrival);
    for (Offer offer : m_asked) {
        if (isTaken && offer.group == best.group)
            offer.end = take(best.group, size, arrival);
        offers.push_back(offer);
        std::ranges::push_heap(offers, std::greater {});
    }
    if (!isServed)
        return std::unexpected(isLateAlone(size, arrival, latest) ? Refusal::Late : Refusal::Full);
    if (!isTaken)
        return std::unexpected(Refusal::Decode);
    return Placement { best.group, best.end };
}

/// When the group could give the first token at the earliest; its places are then in m_fits. Gives up with a lower
/// bound once that is past `latest`, and with kNever where a member has no such gap left.
Nanoseconds Controller::earliestEnd(
    const ServingGroup &group, const GpuCalendar *calendars, std::size_t size, Nanoseconds arrival, Nanoseconds latest)
{
    Nanoseconds time = arrival, end = time;
    m_fits.resize(group.members.size());
    for (std::size_t j = 0; j < group.members.size(); ++j) {
        const SliceTime &slice = m_plan.slice(size, group.members[j]);
        const GpuCalendar::Fit fit = calendars[j].firstFit(time, slice.slot(), latest);
        if (fit.start == kNever)
            return kNever;
        m_fits[j] = fit;
        end = fit.start + slice.compute;
        time = end + slice.hop;
        if (j + 1 == group.members.size())
            return end + m_plan.afterPrefill(slice);
        const Nanoseconds bound = j == 0 ? fit.start + m_service[size] : end;
        if (bound > latest)
            return bound;
    }
    return end;
}

/// Takes the places found; when the group could end its next prompt of this length at the earliest.
Nanoseconds Controller::take(std::uint32_t index, std::size_t size, Nanoseconds arrival)
{
    const ServingGroup &group = m_plan.groups[index];
    Nanoseconds next = 0;
    m_starts.clear();
    for (std::size_t j = 0; j < group.members.size(); ++j) {
        const SliceTime &slice = m_plan.slice(size, group.members[j]);
        const GpuCalendar::Fit fit = m_bestFits[j];
        m_gpus[m_firstMember[index] + j].take(fit, slice.slot(), arrival);
        m_starts.push_back(fit.start);
        next = fit.start + slice.slot() + slice.compute + m_plan.afterPrefill(slice);
    }
    return next;
}

/// When its keys and values are in the decode pool.
Nanoseconds Controller::keysArrive(const Offer &best, std::size_t size) const
{
    const SliceTime &last = m_plan.slice(size, m_plan.groups[best.group].members.back());
    return m_bestFits.back().start + last.compute + last.kvMove;
}

/// Whether no group would be in time for a request even if nothing else were served. What one would reach holds until
/// its first slice could have started.
bool Controller::isLateAlone(std::size_t size, Nanoseconds arrival, Nanoseconds latest)
{
    for (std::size_t shape = 0; shape < m_untouched.size(); ++shape) {
        const ServingGroup &group = m_plan.groups[m_groupOf[shape]];
        if (!m_plan.hasRoom(size, group))
            continue;
        Alone &alone = m_alone[size][shape];
        if (arrival > alone.start) {
            alone.end = earliestEnd(group, m_untouched[shape].data(), size, arrival, kNever);
            alone.start = alone.end == kNever ? kNever : m_fits.front().start;
        }
        if (alone.end <= latest)
            return false;
    }
    return true;
}

} // namespace trainyard
