#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes of one connection (or of one file that grows) turned into batches, whatever way they are cut. Decoders know no
// sockets and no threads: the session's reader thread gives them blocks as they came. They are bounded in what they
// hold, never trust a number of their input, and end a connection only where reading on makes no sense.

#include "core/base/error.h"
#include "core/live/batch.h"

#include <memory>
#include <string_view>

namespace trainyard::readers {
struct OtlpHistory;
}

namespace trainyard::live {

struct DecoderLimits {
    /// of one line; longer ones are dropped and counted, up to their end
    std::size_t lineBytes = std::size_t(4) << 20;
    /// of one message, unpacked
    std::size_t bodyBytes = std::size_t(16) << 20;
    /// different ones that a connection may name
    std::size_t names = 65'536, ranks = 65'536, groups = 65'536;
    /// a batch is given out at the latest then
    std::size_t batchEvents = 65'536;
};

class Decoder {
public:
    virtual ~Decoder() = default;
    Decoder() = default;
    Decoder(const Decoder &) = delete;
    Decoder &operator=(const Decoder &) = delete;

    /// Takes the next bytes; `received` is Unix time. Lines that are bad are dropped and counted in the batch's source
    /// (with a note that names the first of them by its number); an error ends the connection: Errors: BadSyntax where
    /// the peer speaks something else, with what was seen and what would be right.
    [[nodiscard]] virtual Expected<void> take(std::string_view bytes, Moment received, const BatchOut &out) = 0;
    /// The connection has ended, or the file rests: what is held of a last line is taken where it is whole.
    virtual void end(Moment received, const BatchOut &out) = 0;
    /// So many bytes were lost before the next ones (an overflow, a gap): goes on at the next line.
    virtual void skip(std::int64_t bytes) = 0;
};
using DecoderPtr = std::unique_ptr<Decoder>;

/// Our lines of JSON (stream_lines.h).
[[nodiscard]] DecoderPtr makeLinesDecoder(std::string name, const DecoderLimits &limits = {});
/// A training log of any framework that files are read of, as it grows; bare text lines of a launcher in between.
[[nodiscard]] DecoderPtr makeLogDecoder(std::string name, const DecoderLimits &limits = {});

/// Whichever of the two the text begins as.
[[nodiscard]] DecoderPtr makeTextDecoder(std::string name, const DecoderLimits &limits = {});

/// What the counters of one sender stood at after its last message (core/runs/telemetry/readers/otlp_history.h): with
/// it, sums of deltas and means of histograms go on from message to message. One thread at a time.
using readers::OtlpHistory;
using OtlpHistoryPtr = std::shared_ptr<OtlpHistory>;
[[nodiscard]] OtlpHistoryPtr makeOtlpHistory();
/// One whole OTLP request body (metrics, traces or logs), unpacked; `isJson`: its encoding. Errors: BadSyntax.
[[nodiscard]] Expected<Batch> decodeOtlp(std::string_view body, bool isJson, const std::string &name, Moment received,
    const DecoderLimits &limits = {}, OtlpHistory *history = nullptr);
/// One answer of a Prometheus API. Errors: BadSyntax; what the server answered, where it answered an error.
[[nodiscard]] Expected<Batch> decodePrometheus(
    std::string_view body, const std::string &name, Moment received, const DecoderLimits &limits = {});

} // namespace trainyard::live
