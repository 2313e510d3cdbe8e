// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers.h"
#include "core/runs/telemetry/readers/fio.h"
#include "core/runs/telemetry/readers/flight_recorder.h"
#include "core/runs/telemetry/readers/iperf3.h"
#include "core/runs/telemetry/readers/nccl_debug.h"
#include "core/runs/telemetry/readers/nccl_inspector.h"
#include "core/runs/telemetry/readers/nccl_tests.h"
#include "core/runs/telemetry/readers/probe_file.h"

#include <array>

namespace trainyard {

std::span<const SourceReader> readers::networkBenchmarks()
{
    using namespace readers;
    static constexpr std::array<SourceReader, 11> kReaders { {
        { SourceKind::NcclTests, looksLikeNcclTests, readNcclTests },
        { SourceKind::NcclTestsJson, looksLikeNcclTestsJson, readNcclTestsJson },
        { SourceKind::NcclInspector, looksLikeNcclInspector, readNcclInspector },
        { SourceKind::NcclDebugLog, looksLikeNcclDebug, readNcclDebug },
        { SourceKind::NcclProfilerDump, looksLikeNcclProfilerDump, refuseNcclProfilerDump, true },
        { SourceKind::FlightRecorder, looksLikeFlightRecorder, readFlightRecorder },
        { SourceKind::FlightRecorder, looksLikeFlightRecorderPickle, refuseFlightRecorderPickle, true },
        { SourceKind::Iperf3, looksLikeIperf3, readIperf3 },
        { SourceKind::Iperf3, looksLikeIperf3Text, readIperf3Text },
        { SourceKind::Fio, looksLikeFio, readFio },
        { SourceKind::Probe, looksLikeProbe, readProbe },
    } };
    return kReaders;
}

} // namespace trainyard
