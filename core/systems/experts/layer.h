#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One layer of experts as a small task graph, run by the one engine: router, permute, dispatch, products of the
// experts, combine, unpermute, shared experts beside them. A rank has streams for kernels, NIC, NVLink, WAN and copies;
// its NIC, NVLink, WAN, memory and multiprocessors are shared resources, so that what meets there slows down. Where
// ranks are loaded unevenly the graph has two, the fullest and a mean one: exchanges begin when both are ready. Whoever
// costs a layer hands in times of kernels and legs and gets a value back: how long, and how much of it nothing
// computes. Results are remembered by everything that they depend on. Any thread.
//
// Who shares what (docs/experts.md):
// * Legs count bytes. One takes of its way what it moves, of NVLink also what crosses it on the way (Leg::nvlinkToo),
// of
//   memory two bytes for one on a wire: read here, and what comes in written. Where they ask for more than there is,
//   each gets its max-min fair share. A leg alone is never slowed: it takes at most all of a resource.
// * While an exchange is on its way its kernels hold their multiprocessors, however slow it is; kernels run at the
// speed
//   of what is left, and share that evenly where two run at once.
// * In a stream work goes in the order in which it is launched: that of the kernels below; of an exchange in pieces,
//   whose legs are listed behind those that they wait for, first the legs that wait for no other, of all pieces, then
//   piece by piece the others (with `piecesWait` or where each piece waits for its products: piece by piece all of
//   them). Several legs of an exchange on one way have a lane of their own each, since they belong to different
//   communicators; so has everything `beside`.

#include "core/engine/timeline/timeline.h"
#include "core/systems/experts/exchange.h"

#include <memory>
#include <string>
#include <vector>

namespace trainyard {

/// Kernels of one pass through the layer on one rank, each alone on the GPU.
struct LayerKernels {
    /// beside nothing of this layer: attention and its norm (read by pairs alone)
    Seconds before;
    /// products: of all pieces together
    Seconds router, permute, products, unpermute;
    /// shared experts
    Seconds shared;
    bool operator==(const LayerKernels &) const = default;
};

/// Kernels run in this order. Forward: router, permute, dispatch, products, combine, unpermute, shared. Backward:
/// shared, unpermute, dispatch, products, combine, permute, router; what brings gradients to the experts is the
/// backward of the forward's combine and comes first, what brings them back that of its dispatch. Shared experts that
/// compute beside begin with the dispatch.
struct LayerWork {
    bool isBackward = false;
    /// of the rank that has most to do
    LayerKernels fullest;
    /// products, permute and unpermute of a mean rank / the fullest's; 1: ranks are alike
    double meanShare = 1;
    /// in the order of time: a backward's `dispatch` brings gradients to the experts
    Exchange dispatch, combine;
    // Experts begin with the first piece and work piece by piece, each 1 / pieces of the products; a piece of the
    // combine goes when its share of the products is done. Else they begin when all pieces are there.
    bool productsInPieces = false;
    /// shared experts compute while tokens travel
    bool isSharedBeside = false;
    /// until the host knows where tokens go: before permute and dispatch, nothing computes
    Seconds hostWait;
    // bytes/s of one GPU, one way; memory's read and written. 0: nothing slows down what meets there
    double memoryBandwidth = 0, nicBandwidth = 0, nvlinkBandwidth = 0, wanBandwidth = 0;
    /// of the GPU; 0: exchanges take none
    double multiprocessors = 0;
    // One queue to the device (CUDA_DEVICE_MAX_CONNECTIONS=1): nothing starts before what was launched ahead of it on
    // its rank has started
    bool launchesInOrder = false;
    /// other exchanges that use the same ways from the beginning; nothing waits for them
    std::vector<Leg> beside;
    bool operator==(const LayerWork &) const = default;
};

struct LayerTimes {
    Seconds total;
    Seconds
        computing; // while a kernel of the fullest rank runs, as long as that took beside what shares the GPU with it
    /// total - computing: nothing computes
    Seconds exposed;
    /// of the fullest rank, from their begin to their end; of a pair both passes' together
    Seconds dispatch, combine;
    bool operator==(const LayerTimes &) const = default;
};

/// A forward (A) and a backward (B) of different micro-batches at once, layer by layer, each exchange under a kernel of
/// the other pass (DualPipe). Four phases, which both passes enter together:
///   1  A: unpermute of the layer before, before, router, permute   beside   B's dispatch
///   2  B: products, shared                                         beside   A's dispatch
///   3  A: products, shared                                         beside   B's combine
///   4  B: permute, router, before, unpermute of the layer after    beside   A's combine
/// Kernels are in one stream and exchanges in another, and each phase's both need both of the phase before, so nothing
/// can begin ahead of its phase. A layer follows another: the ends are counted as in the middle of a row of layers,
/// where A's unpermute runs with the next layer's phase 1 and B's with the layer before's phase 4. Pieces of products
/// and `isSharedBeside` are not read. Where one pass after the other is faster, that is what runs.
struct PairWork {
    /// as their isBackward says. Bandwidths, multiprocessors and the queue are the forward's; both bring `beside`
    LayerWork forward, backward;
    /// share of the GPU's speed that kernels lose beside an exchange, beyond the multiprocessors that it holds: memory
    /// and caches that both use, launches of two micro-batches from one host
    double loss = 0;
    bool operator==(const PairWork &) const = default;
};

/// Of both, results are remembered: a few thousand, those asked for last.
[[nodiscard]] LayerTimes layerTimes(const LayerWork &work);
/// Of one layer of both passes, with their `before`.
[[nodiscard]] LayerTimes pairTimes(const PairWork &work);

/// The spans behind the numbers, for whoever looks: tracks are streams of ranks.
enum class LayerStream : std::uint8_t { Compute, Nic, Nvlink, Wan, Copy };
struct LayerTrack {
    /// 0: the fullest; 1: a mean one
    int rank = 0;
    LayerStream stream = LayerStream::Compute;
    /// of the stream: legs, shared experts and exchanges that run beside its first
    int lane = 0;
    auto operator<=>(const LayerTrack &) const = default;
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
    /// of a pair
    bool isBackward = false;
    Nanoseconds start = 0, end = 0;
    /// that it moves over its way
    double bytes = 0;
    /// and over NVLink besides
    double nvlinkToo = 0;
    /// seconds it would take with everything to itself, until all is there
    double alone = 0;
    /// from its end until what it moved is there
    Nanoseconds lag = 0;
};
/// An exchange as the fullest rank saw it.
struct LayerExchange {
    LayerStep step = LayerStep::Dispatch;
    bool isBackward = false;
    Nanoseconds start = 0, end = 0;
    /// Exchange::logicalBytes; over the time: the "logical" bandwidth, which is not a wire's
    double logicalBytes = 0;
    /// by Way
    std::array<double, kWayCount> bytes {};
};
struct LayerChart {
    /// by track, then start; none is empty
    std::vector<LayerSpan> spans;
    /// those that move something, by start
    std::vector<LayerExchange> exchanges;
    /// what runs beside the layer may end later
    Nanoseconds duration = 0;
    int ranks = 1;
};
[[nodiscard]] LayerChart layerChart(const LayerWork &work);
[[nodiscard]] LayerChart pairChart(const PairWork &work);
[[nodiscard]] const char *toString(LayerStep step);
[[nodiscard]] const char *toString(LayerStream stream);

} // namespace trainyard
