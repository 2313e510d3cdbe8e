#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The kinds of files that tell of a run or of a cluster.

#include <cstdint>

namespace trainyard {

/// What a file is; the readers say which of them they read.
enum class SourceKind : std::uint8_t {
    Unknown,
    /// *.trainyard-recording
    Recording,
    /// PyTorch profiler
    KinetoTrace,
    /// protobuf
    ChakraTrace,
    ChakraJson,
    /// PyTorch's ExecutionTraceObserver
    ExecutionTrace,
    MegatronLog,
    TorchtitanLog,
    DeepSpeedLog,
    NemoLog,
    HfTrainerLog,
    HfTrainerState,
    MlperfLog,
    MegatronGoldenValues,
    WandbFile,
    TensorBoardEvents,
    NcclTests,
    NcclTestsJson,
    NcclInspector,
    NcclDebugLog,
    NcclProfilerDump,
    FlightRecorder,
    Iperf3,
    Fio,
    /// nvidia-smi --query-gpu, CSV
    SmiQuery,
    SmiDmon,
    /// Prometheus or OpenMetrics exposition
    MetricsText,
    /// of its HTTP API
    PrometheusAnswer,
    OtlpJson,
    OtlpProtobuf,
    HfConfig,
    /// script or YAML
    MegatronArguments,
    TorchtitanToml,
    /// topology.conf or .yaml
    SlurmTopology,
    /// nvidia-smi topo -m
    SmiTopology,
    /// XML
    NcclTopology,
    NcclGraph,
    Hwloc,
    IbNetDiscover,
    IbLinkInfo,
    SkyPilotCatalog,
    Plan,
    /// scontrol show node
    SlurmNodes,
    /// AWS describe-instance-types
    InstanceTypes,
    /// configurations of trainers: YAML or JSON
    NanotronConfig,
    DeepSpeedConfig,
    AccelerateConfig,
    LlamaFactoryConfig,
    AxolotlConfig,
    AutomodelConfig,
    MaxTextConfig,
    PrimusConfig,
    /// of a trainer that prints a line for each step
    StepLog,
    /// SQLite
    NsysExport,
    /// named, and not read
    OtherProfiler,
    /// of samples/probe
    Probe,
};
/// "PyTorch profiler trace", for sentences.
[[nodiscard]] const char *nameOf(SourceKind kind);

} // namespace trainyard
