// SPDX-License-Identifier: GPL-3.0-or-later
// A plan asks for a layer of each stage and pass, its alternatives for the same again; what differs from edit to edit
// is a handful of works.
#include "core/engine/timeline/graph_builder.h"
#include "core/systems/experts/layer_key.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>

namespace trainyard {

namespace {

class Words {
public:
    explicit Words(LayerKey &into)
        : m_words(into)
    {
        m_words.clear();
    }

    // Every member by name: one more, and these no longer compile.
    void add(const LayerWork &work)
    {
        const auto &[isBackward, fullest, meanShare, dispatch, combine, inPieces, isSharedBeside, hostWait, memory, nic,
            nvlink, wan, multiprocessors, inOrder, beside] = work;
        add(std::uint64_t { isBackward } | std::uint64_t { inPieces } << 1 | std::uint64_t { isSharedBeside } << 2
            | std::uint64_t { inOrder } << 3);
        const auto &[before, router, permute, products, unpermute, shared] = fullest;
        for (const Seconds time : { before, router, permute, products, unpermute, shared, hostWait })
            add(time.value);
        for (const double number : { meanShare, memory, nic, nvlink, wan, multiprocessors })
            add(number);
        add(dispatch);
        add(combine);
        add(beside);
    }

    void add(double number) { m_words.push_back(std::bit_cast<std::uint64_t>(number)); }

private:
    void add(std::uint64_t word) { m_words.push_back(word); }
    void add(const Exchange &exchange)
    {
        const auto &[legs, pieces, piecesWait, logicalBytes, sms] = exchange; // logicalBytes change no time
        add(std::uint64_t(std::uint32_t(pieces)) << 1 | (piecesWait ? 1u : 0u));
        add(sms);
        add(legs);
        (void)logicalBytes;
    }
    void add(const std::vector<Leg> &legs)
    {
        add(std::uint64_t(legs.size()));
        for (const auto &[way, bytes, start, moving, after, afterAll, nvlinkToo, lag] : legs) {
            add(std::uint64_t(way) << 33 | std::uint64_t { afterAll } << 32 | std::uint32_t(after));
            for (const double number : { bytes, start.value, moving.value, nvlinkToo, lag.value })
                add(number);
        }
    }

    LayerKey &m_words;
};

/// Keys of a hash with their times: two halves, of which the older is forgotten when the newer is full. What is found
/// in the older one moves.
class Remembered {
public:
    template <class Times> LayerTimes find(const LayerKey &key, Times compute)
    {
        Fingerprint print;
        print.add(key.data(), key.size());
        const View view { key, print.value() };
        Part &part = m_parts[view.hash >> 60];
        {
            const std::lock_guard lock(part.mutex);
            if (const auto found = part.newer.find(view); found != part.newer.end())
                return found->second;
            if (const auto found = part.older.find(view); found != part.older.end()) {
                auto node = part.older.extract(found);
                const LayerTimes times = node.mapped();
                makeRoom(part);
                part.newer.insert(std::move(node));
                return times;
            }
        }
        const LayerTimes times = compute();
        const std::lock_guard lock(part.mutex);
        makeRoom(part);
        part.newer.try_emplace(Key { key, view.hash }, times);
        return times;
    }

private:
    static constexpr std::size_t kMostOfHalf = 256; // 16 parts of two halves: 8,192 works of about half a kilobyte

    struct View {
        std::span<const std::uint64_t> words;
        std::uint64_t hash;
    };
    struct Key {
        LayerKey words;
        std::uint64_t hash;
        operator View() const { return { words, hash }; }
    };
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(const View &view) const { return view.hash; }
    };
    struct IsSame {
        using is_transparent = void;
        bool operator()(const View &a, const View &b) const { return std::ranges::equal(a.words, b.words); }
    };
    using Half = std::unordered_map<Key, LayerTimes, Hash, IsSame>;
    struct Part {
        std::mutex mutex;
        Half newer, older;
    };

    static void makeRoom(Part &part)
    {
        if (part.newer.size() < kMostOfHalf)
            return;
        part.older = std::exchange(part.newer, {});
    }

    std::array<Part, 16> m_parts;
};

/// Of a chart, which is what was simulated.
LayerTimes timesOf(const LayerChart &chart)
{
    std::vector<std::pair<Nanoseconds, Nanoseconds>> kernels;
    for (const LayerSpan &span : chart.spans)
        if (span.track.rank == 0 && span.track.stream == LayerStream::Compute && span.step != LayerStep::HostWait)
            kernels.emplace_back(span.start, span.end);
    std::ranges::sort(kernels);
    Nanoseconds computing = 0, until = 0;
    for (const auto &[start, end] : kernels) {
        computing += std::max<Nanoseconds>(0, end - std::max(start, until));
        until = std::max(until, end);
    }
    Nanoseconds dispatch = 0, combine = 0;
    for (const LayerExchange &exchange : chart.exchanges)
        (exchange.step == LayerStep::Dispatch ? dispatch : combine) += exchange.end - exchange.start;
    return { .total = toSeconds(chart.duration),
        .computing = toSeconds(computing),
        .exposed = toSeconds(chart.duration - computing),
        .dispatch = toSeconds(dispatch),
        .combine = toSeconds(combine) };
}

} // namespace

void keyOf(const LayerWork &work, LayerKey &into)
{
    Words(into).add(work);
}

void keyOf(const PairWork &work, LayerKey &into)
{
    const auto &[forward, backward, loss] = work;
    Words words(into);
    words.add(forward);
    words.add(backward);
    words.add(loss);
}

LayerTimes layerTimes(const LayerWork &work)
{
    static Remembered remembered;
    thread_local LayerKey key;
    keyOf(work, key);
    return remembered.find(key, [&] { return timesOf(layerChart(work)); });
}

LayerTimes pairTimes(const PairWork &work)
{
    static Remembered remembered;
    thread_local LayerKey key;
    keyOf(work, key);
    return remembered.find(key, [&] { return timesOf(pairChart(work)); });
}

} // namespace trainyard
