#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Our own stream, for whoever trains: lines of JSON over TCP, WebSocket or in a file, one event a line, written by a
// few lines of any language (docs/live-stream.md, `schema telemetry`, samples/live). Times are the sender's, Unix
// nanoseconds as whole numbers; several events of one kind may share a line as columns. A connection begins with a
// hello, which says who speaks:
//
//   {"event":"hello","format":"trainyard.stream","version":1,"run":"llama-70b","rank":3,"world_size":16,"host":"n0",
//    "gpu":"NVIDIA H100 80GB HBM3","token":"…"}
//   {"event":"arguments","values":{"tensor_model_parallel_size":"4", …}}
//   {"event":"group","name":"dp_0","ranks":[0,4,8,12]}
//   {"event":"step","number":1240,"start_ns":…,"end_ns":…}
//   {"event":"span","stream":"compute","work":"compute","name":"forward","start_ns":…,"duration_ns":…}
//   {"event":"spans","stream":"compute","work":"compute","name":["forward","backward"],"start_ns":[…],"duration_ns":[…]}
//   {"event":"collective","group":"dp_0","operation":"all_reduce","bytes":…,"sequence":7,"start_ns":…,"duration_ns":…}
//   {"event":"sample","name":"loss","unit":"1","value":2.31,"step":1240}        or "at_ns" in place of "step"
//   {"event":"samples","name":"power","unit":"W","where":"n0/gpu3","at_ns":[…],"value":[…]}
//   {"event":"end"}
//
// Any event may name a "rank" of its own (null: nobody's), so that one connection can speak for many; further hellos
// tell of those ranks, and "host" tells two hosts apart that claim one. Whatever is not equal for all events of a line
// may be a column. A collective that names a "stream" is drawn there as a span too; "gpu_stream": false is a stream of
// the host, "device" and "stream_number" tell streams of one name apart, "launched_ns" when the host launched a span.
// Units and names of samples are those of core/runs/telemetry/sample_names.h; others are kept under their own name.
// Keys that nobody knows are left out.

#include "core/base/error.h"
#include "core/runs/telemetry/recording.h"

#include <functional>
#include <string>
#include <string_view>

namespace trainyard::live {

inline constexpr std::string_view kStreamFormat = "trainyard.stream";
inline constexpr int kStreamVersion = 1;
inline constexpr std::size_t kEventsOfLine = 256;

/// stream_parts.h
class StreamParts;

/// JSON Schema of one line.
[[nodiscard]] std::string streamSchema();

/// A line with the moment at which it is to be sent: the end of what it tells, Unix time of the recording.
struct TimedLine {
    Moment at = 0;
    int rank = -1;
    /// with its line feed
    std::string text;
};
/// All of a recording as lines in order of their moments, hello and arguments first (at the first moment). Samples by
/// step are sent at the end of their step. `most`: events that share a line at most.
void writeLines(const Recording &recording, std::string_view token, const std::function<bool(TimedLine &&line)> &out,
    std::size_t most = kEventsOfLine);
/// The same of parts that were put in order before (stream_parts.h), once for all who hear them; `zero` in the place of
/// the recording's.
void writeLines(const Recording &recording, const StreamParts &parts, Moment zero, std::string_view token,
    const std::function<bool(TimedLine &&line)> &out);

} // namespace trainyard::live
