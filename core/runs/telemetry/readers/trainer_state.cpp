// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/experiment_json.h"
#include "core/runs/telemetry/readers/hf_trainer.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <cmath>

namespace trainyard::readers {

int looksLikeTrainerState(std::string_view, std::string_view head)
{
    const bool isMap = trimmedStart(head).starts_with('{');
    return isMap && head.find("\"log_history\"") != head.npos                                       ? 96
        : isMap && head.find("\"best_metric\"") != head.npos && head.find("\"epoch\"") != head.npos ? 90
                                                                                                    : 0;
}

Expected<Recording> readTrainerState(const SourceText &source, const SourceOptions &)
{
    LooseJson json;
    json.read(source.text);
    const LooseJsonValue history = json.root()["log_history"];
    if (!history)
        return std::unexpected(Error { ErrorCode::BadSyntax, source.file,
            "It is a trainer_state.json of Hugging Face, but has no log_history", "" });
    Recording recording = recordingOf(source, SourceKind::HfTrainerState);
    RecordedSource &made = recording.sources.front();
    SeriesBook book;
    for (const LooseJsonValue entry : history) {
        const auto step = entry["step"].number();
        if (!step || !(std::abs(*step) < 1e15)) {
            drop(made, "entries without a step");
            continue;
        }
        addTrainerEntry(book, entry, static_cast<std::int64_t>(*step), made);
        ++made.taken;
    }
    addMeanStepTime(book, made);
    for (const LooseJsonValue value : json.root())
        if (value.isNumber() && value.raw().size() < 100)
            recording.arguments[value.name()] = value.raw();
    made.isTruncated = made.isTruncated || json.isTruncated();
    if (json.isBroken())
        drop(made, "what stands behind byte " + std::to_string(json.end()) + ", which is no JSON", 1);
    drop(made, "values of steps that a later entry tells again", book.close(recording, 0, "trainer"));
    return recording;
}

} // namespace trainyard::readers
