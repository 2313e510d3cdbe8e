// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers.h"
#include "core/runs/telemetry/readers/metrics_text.h"
#include "core/runs/telemetry/readers/otlp.h"
#include "core/runs/telemetry/readers/prometheus_answer.h"
#include "core/runs/telemetry/readers/smi_tables.h"

#include <array>

namespace trainyard {

std::span<const SourceReader> readers::hardwareSamples()
{
    using namespace readers;
    static constexpr std::array<SourceReader, 6> kReaders { {
        { SourceKind::SmiQuery, looksLikeSmiQuery, readSmiQuery },
        { SourceKind::SmiDmon, looksLikeSmiDmon, readSmiDmon },
        { SourceKind::MetricsText, looksLikeMetricsText, readMetricsText },
        { SourceKind::PrometheusAnswer, looksLikePrometheusAnswer, readPrometheusAnswer },
        { SourceKind::OtlpJson, looksLikeOtlpJson, readOtlpJson },
        { SourceKind::OtlpProtobuf, looksLikeOtlpProtobuf, readOtlpProtobuf },
    } };
    return kReaders;
}

} // namespace trainyard
