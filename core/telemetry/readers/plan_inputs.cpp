// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/telemetry/readers.h"
#include "core/telemetry/readers/training_script.h"

#include <array>

namespace trainyard {

std::span<const SourceReader> readers::planInputs()
{
    static constexpr std::array kReaders {
        SourceReader { SourceKind::HfConfig, looksLikeHfConfig, readHfConfig },
        SourceReader { SourceKind::MegatronArguments, looksLikeTrainingScript, readTrainingScript },
        SourceReader { SourceKind::MegatronArguments, looksLikeTrainingYaml, readTrainingYaml },
        SourceReader { SourceKind::TorchtitanToml, looksLikeTorchtitanToml, readTorchtitanToml },
    };
    return kReaders;
}

} // namespace trainyard
