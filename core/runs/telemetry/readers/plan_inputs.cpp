// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers.h"
#include "core/runs/telemetry/readers/hwloc.h"
#include "core/runs/telemetry/readers/infiniband.h"
#include "core/runs/telemetry/readers/instance_catalogues.h"
#include "core/runs/telemetry/readers/nccl_xml.h"
#include "core/runs/telemetry/readers/slurm_nodes.h"
#include "core/runs/telemetry/readers/slurm_topology.h"
#include "core/runs/telemetry/readers/smi_topology.h"
#include "core/runs/telemetry/readers/training_script.h"

#include <array>

namespace trainyard {

std::span<const SourceReader> readers::planInputs()
{
    using namespace readers;
    static constexpr auto kReaders = std::to_array<SourceReader>({
        { SourceKind::HfConfig, looksLikeHfConfig, readHfConfig },
        { SourceKind::MegatronArguments, looksLikeTrainingScript, readTrainingScript },
        { SourceKind::MegatronArguments, looksLikeTrainingYaml, readTrainingYaml },
        { SourceKind::NanotronConfig, looksLikeTrainerConfig, readTrainerConfig },
        { SourceKind::TorchtitanToml, looksLikeTorchtitanToml, readTorchtitanToml },
        { SourceKind::SlurmTopology, looksLikeSlurmConf, readSlurmConf },
        { SourceKind::SlurmTopology, looksLikeSlurmYaml, readSlurmYaml },
        { SourceKind::SlurmNodes, looksLikeSlurmNodes, readSlurmNodes },
        { SourceKind::SlurmNodes, looksLikeSlurmNodesJson, readSlurmNodesJson },
        { SourceKind::SmiTopology, looksLikeSmiTopology, readSmiTopology },
        { SourceKind::SmiTopology, looksLikeRocmTopology, readRocmTopology },
        { SourceKind::NcclTopology, looksLikeNcclTopology, readNcclTopology },
        { SourceKind::NcclGraph, looksLikeNcclGraph, readNcclGraph },
        { SourceKind::Hwloc, looksLikeHwloc, readHwloc },
        { SourceKind::IbNetDiscover, looksLikeIbNetDiscover, readIbNetDiscover },
        { SourceKind::IbLinkInfo, looksLikeIbLinkInfo, readIbLinkInfo },
        { SourceKind::SkyPilotCatalog, looksLikeSkyCatalogue, readSkyCatalogue },
        { SourceKind::InstanceTypes, looksLikeInstanceTypes, readInstanceTypes },
    });
    return kReaders;
}

} // namespace trainyard
