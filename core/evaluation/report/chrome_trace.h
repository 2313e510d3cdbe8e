#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline as a Chrome trace (Trace Event Format, JSON object form), for ui.perfetto.dev and chrome://tracing.
// A process is a datacenter of a class of equal pipelines, a thread is a stream of a stage; times are exact to the
// nanosecond. Arrows join a WAN transfer to the work that sent it and to the work that waited for it.

#include "core/evaluation/evaluate/evaluation.h"

#include <ostream>

namespace trainyard {

void writeChromeTrace(const Evaluation &evaluation, std::ostream &out);

} // namespace trainyard
