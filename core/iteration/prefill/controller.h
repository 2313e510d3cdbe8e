#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The controller of BubbleTea (arXiv 2411.14458): places prefill requests, in order of arrival, in the free windows of
// the training plan, or turns them away. A group of p GPUs serves a request as a pipeline of p slices. Iterations
// follow one another, and a request that finds no place in its own waits for a place in a later one (backlog.h). It
// goes to a group that finishes it first, of several to one long unused.
//
// No request looks at all windows: each GPU's gaps are trees (gpu_calendar.h), groups wait in a heap by the earliest
// end that they could still reach, and a group is asked again only when it comes to the top. Ends only move back as
// time goes on and slots are taken, so what the heap holds is a lower bound.

#include "core/iteration/prefill/decode_pool.h"
#include "core/iteration/prefill/gpu_calendar.h"
#include "core/iteration/prefill/served_model.h"

#include <array>
#include <expected>
#include <optional>
#include <vector>

namespace trainyard {

/// A request, be it one prompt or several of one length at once: what it asks of a GPU of each kind.
struct PromptSize {
    std::vector<SliceTime> onKind;
    /// bytes of keys and values on one GPU
    std::int64_t kvSlice = 0;
    int prompts = 1;
};

/// GPUs of one datacenter that serve a request one after the other.
struct ServingGroup {
    struct Member {
        /// index into ServingPlan::windows
        int windows = 0;
        /// of GPU and network, index into PromptSize::onKind
        int kind = 0;
        auto operator<=>(const Member &) const = default;
    };
    /// in pipeline order
    std::vector<Member> members;
    /// bytes that each member has left beside training
    std::int64_t room = 0;
    /// Equal ones serve alike.
    auto operator<=>(const ServingGroup &) const = default;
};

struct ServingPlan {
    Nanoseconds period = 0;
    /// The iteration comes again; else what does not fit before the end of the period is never served.
    bool repeats = true;
    /// usable ones: without the guard before training
    std::vector<std::vector<FreeWindow>> windows;
    /// of equal size
    std::vector<ServingGroup> groups;
    std::vector<PromptSize> sizes;
    /// bytes of the served models on one GPU
    std::int64_t weightSlice = 0;
    /// longest time to first token
    Nanoseconds slo = 0;
    bool firstTokenFromDecode = false;
    /// none: the decode GPUs take all there is, and their first token takes no time
    std::optional<DecodeCapacity> decode;

    /// From the end of the last slice to the first token.
    [[nodiscard]] Nanoseconds afterPrefill(const SliceTime &last) const
    {
        return firstTokenFromDecode ? last.kvMove + (decode ? decode->step : 0) : 0;
    }
    [[nodiscard]] const SliceTime &slice(std::size_t size, const ServingGroup::Member &member) const
    {
        return sizes[size].onKind[std::size_t(member.kind)];
    }
    [[nodiscard]] bool hasRoom(std::size_t size, const ServingGroup &group) const
    {
        return weightSlice + 2 * sizes[size].kvSlice <= group.room;
    }
    /// From the first slice to the first token where nothing has to wait.
    [[nodiscard]] Nanoseconds serviceTime(std::size_t size, const ServingGroup &group) const;
};

/// Why a request is turned away: keys and values find no memory; no window is as long as a slice (or no group is there
/// to have one); the windows that would be in time are taken; even with nothing else served the first token would come
/// too late; the decode pool has no room when keys and values arrive.
enum class Refusal : std::uint8_t { Memory, Window, Full, Late, Decode };
inline constexpr std::size_t kRefusals = 5;

class Controller {
public:
    struct Placement {
        /// index into ServingPlan::groups
        std::uint32_t group = 0;
        /// counted from the start of iteration 0, as all times here
        Nanoseconds firstToken = 0;
    };

    /// All is taken before `takenUntil`. `plan` outlives it.
    explicit Controller(const ServingPlan &plan, Nanoseconds takenUntil = 0);

    /// Places a request, none of which comes before an earlier one. A slice lies wholly in one window; the next stage
    /// starts a hop after it ends; time to first token = wait + slices + hops (+ the last move of keys and values, and
    /// a step of the decode pool). Memory: weights and the keys and values of two requests a GPU. `waited`: what has
    /// gone by of the time promised.
    [[nodiscard]] std::expected<Placement, Refusal> place(
        std::size_t size, Nanoseconds arrival, Nanoseconds waited = 0);
    /// Starts of the slices of the request placed last, one a member.
    [[nodiscard]] const std::vector<Nanoseconds> &starts() const { return m_starts; }
    /// Groups of one shape serve alike; from 0 on.
    [[nodiscard]] std::uint32_t shapeOf(std::uint32_t group) const { return m_shapeOf[group]; }

private:
    struct Offer { // the earliest end that a group may reach; lower groups first where they are equal
        Nanoseconds end = GpuCalendar::Fit::kNever;
        std::uint32_t group = 0;
        auto operator<=>(const Offer &) const = default;
    };
    using Calendars = std::vector<GpuCalendar>;
    struct Alone { // what a group of this shape would reach if nothing else were served
        Nanoseconds start = -1, end = -1;
    };

    void openOffers(std::size_t size);
    Nanoseconds earliestEnd(const ServingGroup &group, const GpuCalendar *calendars, std::size_t size,
        Nanoseconds arrival, Nanoseconds latest);
    Nanoseconds take(std::uint32_t index, std::size_t size, Nanoseconds arrival);
    [[nodiscard]] bool isLateAlone(std::size_t size, Nanoseconds arrival, Nanoseconds latest);
    [[nodiscard]] Nanoseconds keysArrive(const Offer &best, std::size_t size) const;

    const ServingPlan &m_plan;
    Calendars m_gpus;
    /// group -> into m_gpus
    std::vector<std::size_t> m_firstMember;
    /// group -> shape, and a group and untouched calendars of each
    std::vector<std::uint32_t> m_shapeOf, m_groupOf;
    std::vector<Calendars> m_untouched;
    /// per size: a heap, earliest first
    std::vector<std::vector<Offer>> m_offers;
    /// per size: a window of some group holds its slices
    std::vector<bool> m_isHeld;
    /// per size: the shortest of any group, without wait
    std::vector<Nanoseconds> m_service;
    /// per size and shape
    std::vector<std::vector<Alone>> m_alone;
    std::vector<GpuCalendar::Fit> m_fits, m_bestFits;
    std::vector<Offer> m_asked;
    std::vector<Nanoseconds> m_starts;
    std::optional<DecodeRoom> m_decode;
};

} // namespace trainyard
