#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What live sources have told so far, bounded however long they talk: the steps of the whole session, the spans of its
// latest steps, each quantity whole for its latest samples and thinned before (least and largest of each stretch are
// kept, so that no peak is lost). Batches come in any order and twice; a snapshot is an ordinary recording, which
// whatever reads recordings can lay under a plan. Any thread; take() and snapshot() exclude each other for moments.

#include "core/live/batch.h"

#include <memory>
#include <optional>

namespace trainyard::live {

struct StoreLimits {
    /// of all ranks, and collectives as many; the oldest steps go first
    std::size_t spans = 2'000'000;
    /// further ones are dropped and counted
    std::size_t series = 20'000;
    /// samples of a series that are kept whole
    std::size_t recent = 2'048;
    /// points that stand for all before them
    std::size_t thinned = 2'048;
    std::size_t steps = 1'000'000, ranks = 65'536, names = 262'144, groups = 65'536;
    /// ns: samples later than this are still put in order; older ones are late
    std::int64_t reorder = 30'000'000'000;
};

/// Counts since the store was made. taken + dropped add up to what was given.
struct StoreCounts {
    /// taken: spans, collectives, steps and samples
    std::int64_t events = 0;
    /// told before with equal time and place; not taken again
    std::int64_t duplicates = 0;
    /// spans and collectives that were let go with their old steps, of those taken
    std::int64_t aged = 0;
    /// samples that stand in a thinned point now, of those taken
    std::int64_t thinned = 0;
    /// never taken, by reason: "more than 20,000 series", "later than 30 s"
    std::vector<Dropped> dropped;
    /// Never came so far, by reason: lines that nobody could read, longer than they may be, of unknown events.
    std::vector<Dropped> unread;
    bool operator==(const StoreCounts &) const = default;
};

struct SnapshotAsked {
    /// with spans: the latest so many
    int steps = 8;
    /// step: of those up to it; empty: the latest
    std::optional<std::int64_t> until;
    /// About how many samples all series may have together. Where there are more, each is thinned to the least and the
    /// largest sample of each stretch, so that a picture of many series costs no more than one of few.
    std::size_t points = 4'000'000;
    /// Snapshot::revision of an earlier one: nothing new gives an empty pointer
    Moment lastKnown = 0;
};

struct RankLife { // who speaks, and since when nobody does
    int rank = -1;
    std::string host;
    /// by this machine's clock, Unix ns
    Moment heard = 0;
    /// its latest
    std::int64_t step = -1;
    /// runs that began anew: its steps went back
    std::int64_t attempts = 1;
    bool operator==(const RankLife &) const = default;
};

struct Snapshot {
    std::shared_ptr<const Recording> recording;
    StoreCounts counts;
    std::vector<RankLife> ranks;
    /// of those with spans that are still held; -1: none
    std::int64_t firstStep = -1, lastStep = -1;
    /// the newest moment that anybody told, sender's clock, Unix ns
    Moment latest = 0;
    /// grows with every batch
    Moment revision = 0;
};

class Store {
public:
    explicit Store(const StoreLimits &limits = {});
    ~Store();
    Store(const Store &) = delete;
    Store &operator=(const Store &) = delete;

    void take(Batch &&batch);
    /// Empty where nothing came since asked.lastKnown.
    [[nodiscard]] std::optional<Snapshot> snapshot(const SnapshotAsked &asked) const;
    /// All that is still held, for a file.
    [[nodiscard]] Recording whole() const;
    [[nodiscard]] StoreCounts counts() const;
    /// Bytes of spans, steps and samples that it holds, about.
    [[nodiscard]] std::size_t bytes() const;
    void clear();

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace trainyard::live
