#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The controller of BubbleTea (arXiv 2411.14458): places prefill requests in the free windows of the training plan,
// or turns them away. A group of p GPUs serves a request as a pipeline of p slices; the iteration repeats, and so does
// its pattern of requests, so slots lie on a circle. A request goes to a group that finishes it first, of several to
// one long unused.
//
// No request looks at all windows: each GPU's gaps are a tree (gap_tree.h), groups wait in a heap by the earliest end
// that they could still reach, and a group is asked again only when it comes to the top. Ends only move back as time
// goes on and slots are taken, so what the heap holds is a lower bound.

#include "core/iteration/prefill/gap_tree.h"
#include "core/iteration/prefill/served_model.h"

#include <array>
#include <memory>
#include <stop_token>
#include <vector>

namespace trainyard {

/// Prompts of one length: what they ask of a GPU of each kind.
struct PromptSize {
    std::vector<SliceTime> onKind;
    /// bytes of keys and values on one GPU
    std::int64_t kvSlice = 0;
};

/// GPUs of one datacenter that serve a request one after the other.
struct ServingGroup {
    struct Member {
        /// index into ServingPlan::windows
        int windows = 0;
        /// of GPU and network, index into PromptSize::onKind
        int kind = 0;
    };
    /// in pipeline order
    std::vector<Member> members;
    /// bytes that each member has left beside training
    std::int64_t room = 0;
};

struct ServingPlan {
    Nanoseconds period = 0;
    /// usable ones: without the guard before training
    std::vector<std::vector<FreeWindow>> windows;
    /// of equal size
    std::vector<ServingGroup> groups;
    std::vector<PromptSize> sizes;
    /// bytes of the served model on one GPU
    std::int64_t weightSlice = 0;
    /// longest time to first token
    Nanoseconds slo = 0;
    bool firstTokenFromDecode = false;
};

struct SizedRequest {
    Nanoseconds arrival = 0;
    /// index into ServingPlan::sizes
    int size = 0;
};

/// Why a request is turned away: keys and values find no memory, no window is as long as a slice (or no
/// group is there to have one), every such window is taken, or the first token would come too late.
enum class Refusal : std::uint8_t { Memory, Window, Full, Late };
inline constexpr std::size_t kRefusals = 4;

struct AdmittedRequests {
    struct Accepted {
        std::uint32_t request = 0, group = 0;
        Nanoseconds ttft = 0;
    };
    std::vector<Accepted> accepted;
    /// one a member of each accepted request; of the iteration of arrival or later
    std::vector<Nanoseconds> sliceStarts;
    std::array<std::int64_t, kRefusals> refused {};
};

/// Places requests, given in order of arrival. A slice lies wholly in one window; the next stage starts a hop after
/// it ends; time to first token = wait + slices + hops (+ the last move of keys and values). Memory: weights and the
/// keys and values of two prompts a GPU. Where `stop` is triggered it ends early and the result is incomplete.
[[nodiscard]] AdmittedRequests admitRequests(
    const ServingPlan &plan, const std::vector<SizedRequest> &requests, const std::stop_token &stop = {});

} // namespace trainyard
