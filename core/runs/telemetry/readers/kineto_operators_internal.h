#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The tensors of operators of the host, of traces that tell them (record_shapes), as one text for calls that are alike:
// what a recording holds of them does not grow with the number of calls.

#include "core/runs/telemetry/readers/kineto_event_internal.h"

#include <string>
#include <unordered_map>

namespace trainyard::readers {

class OperatorTexts {
public:
    /// "bf16[4, 2], bf16[2, 8]"; nullptr: it tells no tensor, or there is no room for it.
    [[nodiscard]] const std::string *argumentsOf(const TraceEvent &event);
    /// calls for whose text there was no room
    [[nodiscard]] std::int64_t leftOut() const { return m_leftOut; }

private:
    std::unordered_map<std::string, std::string> m_textByRaw; // as it stands in the trace; empty: no tensor
    std::string m_raw;
    std::int64_t m_leftOut = 0;
};

} // namespace trainyard::readers
