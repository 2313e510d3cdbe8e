#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Walks a Chrome trace, an object or a bare array, from one end to the other in windows of a few hundred kilobytes:
// what it needs beside the text does not grow with it. Events that are no JSON are read as they were meant, or left out
// one by one; a file that ends early is read up to its last whole event.

#include "core/runs/telemetry/readers/kineto_event_internal.h"
#include "core/runs/telemetry/source_stream.h"

#include <functional>

namespace trainyard::readers {

class TraceSink {
public:
    virtual ~TraceSink() = default;
    virtual void event(const TraceEvent &event) = 0; // its texts hold until it returns
    /// An entry of the trace itself, before or behind its events: "distributedInfo".
    virtual void header(std::string_view key, JsonValue value) = 0;
};

struct TraceScan {
    bool isTruncated = false;
    bool isCancelled = false;
    bool hasEvents = false; // a list of events was found
    std::int64_t mended = 0; // events that are no JSON, and were read all the same
    std::int64_t broken = 0; // stretches that nobody can read
};

/// `goesOn` is told how far it is, and asked whether to go on, every few megabytes. Where the stream fails, what was
/// read until then has been told.
[[nodiscard]] TraceScan scanTrace(
    SourceStream &stream, TraceSink &sink, const std::function<bool(double share)> &goesOn);

} // namespace trainyard::readers
