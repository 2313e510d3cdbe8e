#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where in each stream of a recording the spans of a time begin, and which of them communicate for how long: looked up
// by binary search, so that another step of a long recording is shown at once. It keeps one moment for 64 spans and a
// row for each collective, nothing else of the recording. Immutable.

#include "core/runs/telemetry/collectives.h"
#include "core/runs/telemetry/recording.h"

namespace trainyard {

/// A span of a GPU's stream that is a collective or a transfer.
struct CommunicationSpan {
    /// of its stream
    std::uint32_t span = 0;
    /// of its rank
    std::uint32_t collective = 0;
    /// ns, at its end, in which it moves data
    std::int64_t least = 0;
    /// between two stages
    bool isTransfer = false;
};

class SpanIndex {
public:
    SpanIndex(const Recording &recording, const std::vector<MatchedCollective> &matched);

    struct Range {
        std::size_t first = 0, last = 0;
    };
    /// Spans of a stream from the first that ends after `from` to the last that starts before `to`. Some of them may
    /// end before.
    [[nodiscard]] Range within(
        const RankRecording &rank, std::uint32_t rankIndex, std::uint32_t stream, Moment from, Moment to) const;
    /// Of a stream, in the order of its spans.
    [[nodiscard]] const std::vector<CommunicationSpan> &communication(std::uint32_t rank, std::uint32_t stream) const
    {
        return m_ranks[rank][stream].communication;
    }
    /// Some rank shows transfers between two stages; some rank shows collectives at all.
    [[nodiscard]] bool hasTransfers() const { return m_hasTransfers; }
    [[nodiscard]] bool hasCollectives() const { return m_hasCollectives; }
    /// Some GPU works; some of its work communicates.
    [[nodiscard]] bool hasGpuWork() const { return m_hasGpuWork; }
    [[nodiscard]] bool hasCommunication() const { return m_hasCommunication; }

private:
    struct Stream {
        /// of every 64 spans, the latest end so far
        std::vector<Moment> latest;
        std::vector<CommunicationSpan> communication;
    };
    void addCommunication(
        const Recording &recording, const std::vector<std::vector<std::int64_t>> &least, const std::vector<bool> &wide);

    std::vector<std::vector<Stream>> m_ranks;
    bool m_hasTransfers = false, m_hasCollectives = false, m_hasGpuWork = false, m_hasCommunication = false;
};

/// "send", "recv" and their kin: of two ranks.
[[nodiscard]] bool isTransferName(std::string_view operation);

/// Work of a GPU that its streams show: kernels and copies, no annotations and no waits of the host.
[[nodiscard]] constexpr bool isGpuWork(RecordedWork work)
{
    return work == RecordedWork::Compute || work == RecordedWork::Communication || work == RecordedWork::Copy
        || work == RecordedWork::Other;
}

} // namespace trainyard
