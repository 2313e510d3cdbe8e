#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One layer of experts as a small task graph, run by the one engine: router, permute, dispatch, products of the
// experts, combine, unpermute, shared experts beside them. A rank has four streams (compute, NIC, NVLink, copy); NIC,
// NVLink, memory and multiprocessors are shared resources, kernels and legs flows with caps, so that what meets there
// slows down. Where ranks are loaded unevenly the graph has two, the fullest and a mean one: exchanges begin when all
// are ready. Whoever costs a layer hands in times of kernels and legs and gets a value back: how long, and how much of
// it nothing computes. Results are remembered by everything that they depend on.

#include "core/experts/exchange.h"
#include "core/timeline/timeline.h"

#include <memory>
#include <string>
#include <vector>

namespace trainyard {

/// Kernels of one pass through the layer on one rank, each alone on the GPU.
struct LayerKernels {
    Seconds before; // beside nothing of this layer: attention and its norm (read by pairs alone)
    Seconds router, permute, products, unpermute; // products: of all pieces together
    Seconds shared; // shared experts
    bool operator==(const LayerKernels &) const = default;
};

struct LayerWork {
    bool isBackward = false; // kernels in their order: unpermute and router change places, shared experts come first
    LayerKernels fullest; // of the rank that has most to do
    double meanShare = 1; // products, permute and unpermute of a mean rank / the fullest's; 1: ranks are alike
    Exchange dispatch, combine; // in the order of time: a backward's `dispatch` brings gradients to the experts
    bool productsInPieces = false; // experts begin with the first piece; else when all are there
    bool isSharedBeside = false; // shared experts compute while tokens travel
    Seconds hostWait; // until the host knows where tokens go, behind the router
    double memoryBandwidth = 0, nicBandwidth = 0, nvlinkBandwidth = 0, wanBandwidth = 0; // bytes/s of one GPU, one way
    double multiprocessors = 0; // of the GPU; 0: exchanges take none
    bool launchesInOrder = false; // one queue to the device (CUDA_DEVICE_MAX_CONNECTIONS=1)
    std::vector<Leg> beside; // other exchanges that use the same ways from the beginning; nothing waits for them
    bool operator==(const LayerWork &) const = default;
};

struct LayerTimes {
    Seconds total;
    Seconds computing; // kernels of the fullest rank, as long as they took beside what shares the GPU with them
    Seconds exposed; // total - computing: nothing computes
    Seconds dispatch, combine; // from their begin to their end
};

/// Two passes of different micro-batches at once, layer by layer: while one exchanges tokens the other computes
/// (DualPipe; one forward with one backward): A's before | B's products | A's products | B's before, each exchange
/// under the kernel of the other.
struct PairWork {
    LayerWork forward, backward;
    bool operator==(const PairWork &) const = default;
};

[[nodiscard]] LayerTimes layerTimes(const LayerWork &work);
[[nodiscard]] LayerTimes pairTimes(const PairWork &work);

/// The spans behind the numbers, for whoever looks: tracks are streams of ranks.
enum class LayerStream : std::uint8_t { Compute, Nic, Nvlink, Wan, Copy };
struct LayerTrack {
    int rank = 0; // 0: the fullest; 1: a mean one
    LayerStream stream = LayerStream::Compute;
};
enum class LayerStep : std::uint8_t {
    Before,
    Router,
    HostWait,
    Permute,
    Dispatch,
    Products,
    Combine,
    Unpermute,
    Shared,
    Beside
};
struct LayerSpan {
    LayerTrack track;
    LayerStep step = LayerStep::Router;
    int piece = 0;
    bool isBackward = false; // of a pair
    Nanoseconds start = 0, end = 0;
    double bytes = 0; // that it moves over its way
    double alone = 0; // seconds it would take with everything to itself
};
struct LayerChart {
    std::vector<LayerSpan> spans; // by track, then start
    Nanoseconds duration = 0;
    int ranks = 1;
};
[[nodiscard]] LayerChart layerChart(const LayerWork &work);
[[nodiscard]] LayerChart pairChart(const PairWork &work);
[[nodiscard]] const char *toString(LayerStep step);
[[nodiscard]] const char *toString(LayerStream stream);

} // namespace trainyard
