// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers.h"
#include "core/runs/telemetry/readers/experiment_json.h"
#include "core/runs/telemetry/readers/tensorboard.h"
#include "core/runs/telemetry/readers/wandb_file.h"

#include <array>

namespace trainyard {

std::span<const SourceReader> readers::experimentFiles()
{
    static constexpr std::array<SourceReader, 8> kReaders { {
        { SourceKind::TensorBoardEvents, looksLikeTensorBoard, readTensorBoard },
        { SourceKind::WandbFile, looksLikeWandb, readWandb },
        { SourceKind::WandbFile, looksLikeWandbSummary, readWandbSummary },
        { SourceKind::WandbFile, looksLikeWandbConfig, readWandbConfig },
        { SourceKind::WandbFile, looksLikeWandbTable, readWandbTable },
        { SourceKind::HfTrainerState, looksLikeTrainerState, readTrainerState },
        { SourceKind::MegatronGoldenValues, looksLikeGoldenValues, readGoldenValues },
        { SourceKind::DeepSpeedLog, looksLikeStepTable, readStepTable },
    } };
    return kReaders;
}

} // namespace trainyard
