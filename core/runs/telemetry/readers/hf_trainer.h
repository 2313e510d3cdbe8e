#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What Hugging Face's Trainer logs at a step, on the terminal and in trainer_state.json alike.

#include "core/runs/telemetry/readers/loose_json.h"
#include "core/runs/telemetry/readers/series_book.h"

namespace trainyard::readers {

/// The numbers of one entry. Its means over the run (train_loss, train_runtime) stay apart from what steps tell; the
/// last entry's train_steps_per_second is the step time of a log that has no other.
void addTrainerEntry(SeriesBook &book, LooseJsonValue entry, std::int64_t step, RecordedSource &told);
void addMeanStepTime(SeriesBook &book, RecordedSource &told);
void addMeanStepTime(SeriesBook &book, RecordedSource &told, std::int64_t step, double seconds);

} // namespace trainyard::readers
