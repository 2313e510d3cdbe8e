#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a recording file has, described once for all that writes, reads or documents it: each value of a Recording with
// its key, how it is written and what it means. `Io` is who visits: RecordingWriter, RecordingReader, SchemaMaker.

#include "core/runs/telemetry/recording.h"

#include <concepts>
#include <type_traits>

namespace trainyard::recording_file {

inline constexpr const char *kFormat = "trainyard.recording";

/// How the numbers of a column are written.
enum class Coding : std::uint8_t {
    Plain,
    /// to the one before, the first to 0; beyond 64 bits they wrap
    Difference,
    /// null where there is none: kNoIndex, -1
    OrNull,
    /// null: NaN
    Real,
};

template <class T, class Of>
concept Maybe = std::same_as<std::remove_const_t<T>, Of>; // const where it is only written

template <class Io> void describe(Io &io, Maybe<Dropped> auto &dropped)
{
    io.text("reason", dropped.reason, "Why it was not taken");
    io.whole("count", dropped.count, "How many events, lines or rows");
}

template <class Io> void describe(Io &io, Maybe<RecordedSource> auto &source)
{
    io.text("file", source.file, "As it was named");
    io.kind("kind", source.kind, "What the file is");
    io.whole("bytes", source.bytes, "Size, packed where it was packed");
    io.whole("taken", source.taken, "Events, lines or rows that were read");
    io.flag("truncated", source.isTruncated, "It ends in the middle");
    io.text("refused", source.refused, "Why nothing was read; absent: it was read");
    io.list("dropped", source.dropped, "What was not taken");
    io.texts("notes", source.notes, "What its reader wants to be known, a sentence each");
}

template <class Io> void describe(Io &io, Maybe<CommunicatorGroup> auto &group)
{
    io.text("name", group.name, "As the library calls it");
    io.text("description", group.description, "As the framework calls it");
    io.wholes("ranks", group.ranks, "Its ranks; absent: not told");
}

template <class Io> void describe(Io &io, Maybe<RecordedSpans> auto &spans)
{
    io.column("start_ns", spans.start, Coding::Difference, "Nanoseconds since zero; in order");
    io.column("duration_ns", spans.duration, Coding::Plain, "Nanoseconds");
    io.column("name", spans.name, Coding::Plain, "Index into names");
    io.column("work", spans.work, Coding::Plain,
        "0 compute, 1 communication, 2 copy, 3 wait, 4 host call, 5 host operator, 6 annotation, 7 other");
    io.column("launch", spans.launch, Coding::Plain,
        "Number that a kernel shares with the call that launched it, 0: none; absent: nobody told");
    io.launches("launched_before_ns", spans.start, spans.launchedAt,
        "How long before its start it was launched on the host, null: not told; absent: nobody told");
    io.column("shape", spans.shape, Coding::OrNull,
        "Index into names: grid and block of a kernel, tensors of an operator of the host, null: not told; absent: "
        "nobody told");
}

template <class Io> void describe(Io &io, Maybe<RecordedStream> auto &stream)
{
    io.flag("gpu", stream.isGpu, "Of a GPU, else of the host");
    io.whole("device", stream.device, "Index of the GPU in its process, or the process");
    io.whole("stream", stream.stream, "Number of the stream, or the thread");
    io.text("label", stream.label, "Where it has a name");
    io.flag(
        "names_gpu_stream", stream.namesGpuStream, "Of the host: its operators name the GPU's stream of this number");
    io.object("spans", stream.spans, "Columns of equal length, a value for each span");
}

template <class Io> void describeColumns(Io &io, Maybe<std::vector<RecordedCollective>> auto &rows)
{
    io.rows("group", rows, &RecordedCollective::group, Coding::OrNull, "Index into groups, null: not told");
    io.rows("operation", rows, &RecordedCollective::operation, Coding::Plain, "Index into names");
    io.rows("sequence", rows, &RecordedCollective::sequence, Coding::OrNull, "Number in its group, null: not told");
    io.rows("bytes", rows, &RecordedCollective::bytes, Coding::Real, "Message as nccl-tests count it, 0: not told");
    io.rows("start_ns", rows, &RecordedCollective::start, Coding::Difference, "Nanoseconds since zero");
    io.rows("duration_ns", rows, &RecordedCollective::duration, Coding::Plain, "Nanoseconds");
    io.rows("stream", rows, &RecordedCollective::stream, Coding::OrNull, "Index into the rank's streams, null: none");
    io.rows("span", rows, &RecordedCollective::span, Coding::OrNull, "Index into the stream's spans, null: none");
}

template <class Io> void describeColumns(Io &io, Maybe<std::vector<RecordedStep>> auto &rows)
{
    io.rows("number", rows, &RecordedStep::number, Coding::Plain, "Number of the step");
    io.rows("start_ns", rows, &RecordedStep::start, Coding::Difference, "Nanoseconds since zero");
    io.rows("end_ns", rows, &RecordedStep::end, Coding::Difference, "Nanoseconds since zero");
}

template <class Io> void describe(Io &io, Maybe<RankRecording> auto &rank)
{
    io.known("rank", rank.rank, "Rank in the job, null: nobody told");
    io.whole("world_size", rank.worldSize, "Ranks of the job, 0: nobody told");
    io.index("source", rank.source, "Index into sources");
    io.text("host", rank.host, "Name of the host");
    io.text("gpu", rank.gpu, "Name of the GPU");
    io.whole("time_base_ns", rank.timeBase, "zero + a moment − this is the time as its file tells it");
    io.real("clock_offset_ns", rank.clockOffset,
        "What alignment took off its moments: offset + drift × (moment − aligned_at_ns)");
    io.real("clock_drift", rank.clockDrift, "Nanoseconds per nanosecond");
    io.table("steps", rank.steps, "Profiler steps, as columns");
    io.table("collectives", rank.collectives, "Its parts of collective operations in order of start, as columns");
    io.list("streams", rank.streams, "Streams of its GPU and threads of its host");
}

template <class Io> void describe(Io &io, Maybe<SampleSeries> auto &series)
{
    io.text("name", series.name, "Quantity: step_time, gpu_utilization, …");
    io.text("unit", series.unit, "Unit: s, TFLOP/s, B, W, 1, …");
    io.known("rank", series.rank, "Whose samples these are, null: of the whole run or of `where`");
    io.text("where", series.where, "Host, GPU or link");
    io.flag("by_step", series.isByStep, "Whether `at` has numbers of steps, else nanoseconds since zero");
    io.column("at", series.at, Coding::Difference, "Steps or nanoseconds");
    io.column("value", series.value, Coding::Real, "In its unit, null: the sample says that there is none");
    io.index("source", series.source, "Index into sources");
}

template <class Io> void describe(Io &io, Maybe<BenchmarkPoint> auto &point)
{
    io.text("what", point.what, "all_reduce, tcp, read, write, …");
    io.whole("ranks", point.ranks, "Ranks that took part");
    io.whole("nodes", point.nodes, "Nodes that took part");
    io.whole("streams", point.streams, "Parallel connections or jobs");
    io.real("bytes", point.bytes, "Of a message");
    io.real("seconds", point.seconds, "Of one operation, or of the whole test");
    io.real("bytes_per_s", point.bytesPerSecond, "Algorithm bandwidth, goodput");
    io.real("bus_bytes_per_s", point.busBytesPerSecond, "As nccl-tests define it, 0: none");
    io.real("rtt_s", point.rttSeconds, "Round trip, 0: not told");
    io.flag("in_place", point.isInPlace, "Sent and received in one buffer");
    io.index("source", point.source, "Index into sources");
}

template <class Io> void describe(Io &io, Maybe<KernelPoint> auto &point)
{
    io.text("what", point.what,
        "gemm, gemm_dgrad, gemm_wgrad, gemm_grouped, attention, attention_backward, memory; of seconds under load with "
        "_sustained behind");
    io.text("precision", point.precision, "Of the operands");
    io.real("m", point.m, "Rows of a product's result");
    io.real("n", point.n, "Columns of a product's result");
    io.real("k", point.k, "What a product sums over");
    io.real("batch", point.batch, "Sequences of attention, products of a group");
    io.real("heads", point.heads, "Heads of attention");
    io.real("head_dim", point.headDim, "Elements of a head");
    io.real("sequence", point.sequence, "Queries, and as many keys");
    io.flag("causal", point.isCausal, "Each query sees the keys up to its own");
    io.flag("fused", point.isFused, "One kernel, not product, softmax and product");
    io.real("least_s", point.leastSeconds, "Shortest of its repeats");
    io.real("seconds", point.seconds, "Median of its repeats");
    io.real("bytes", point.bytes, "Operands and result, once");
    io.real("flops", point.flops, "Counted from its shape");
    io.text("gpu", point.gpu, "Name of the GPU; of a machine without one, of its processor");
    io.index("source", point.source, "Index into sources");
}

template <class Io> void describe(Io &io, Maybe<SourceArguments> auto &told)
{
    io.index("source", told.source, "Index into sources");
    io.map("arguments", told.arguments, "What it tells");
}

template <class Io> void describe(Io &io, Maybe<RecordedModel> auto &model)
{
    io.text("name", model.name, "Of its file or folder");
    io.text("config", model.config, "Hugging Face config.json, as text");
    io.index("source", model.source, "Index into sources");
}

template <class Io> void describe(Io &io, Maybe<RecordedNodes> auto &nodes)
{
    io.texts("names", nodes.names, "Host names; absent: only their number is known");
    io.whole("count", nodes.count, "How many nodes are alike");
    io.text("gpu", nodes.gpu, "As its source calls it");
    io.whole("gpus", nodes.gpus, "GPUs of each");
    io.whole("nics", nodes.nics, "NICs of each that carry training traffic");
    io.real("nic_bytes_per_s", nodes.nicBytesPerSecond, "Of each NIC, one direction");
    io.real("nvlink_bytes_per_s", nodes.nvlinkBytesPerSecond, "Of each GPU to all others together, one direction");
    io.flag("nvlink_switched", nodes.isNvlinkSwitched, "Every pair of GPUs has all links");
    io.real("host_memory_bytes", nodes.hostMemoryBytes, "Of each");
    io.real("gpu_memory_bytes", nodes.gpuMemoryBytes, "Of each GPU");
    io.whole("gpu_processors", nodes.gpuProcessors, "Multiprocessors of each GPU");
    io.texts("faults", nodes.faults, "What is broken in them, a sentence each");
    io.index("source", nodes.source, "Index into sources");
}

template <class Io> void describe(Io &io, Maybe<RecordedSwitch> auto &one)
{
    io.text("name", one.name, "As its source calls it");
    io.texts("below", one.below, "Switches or nodes");
    io.real("link_bytes_per_s", one.linkBytesPerSecond, "Of one link below it, one direction");
    io.flag("block", one.isBlock, "Nodes that reach each other without the fabric");
    io.index("source", one.source, "Index into sources");
}

template <class Io> void describe(Io &io, Maybe<RecordedPrice> auto &price)
{
    io.text("instance", price.instance, "As the cloud calls it");
    io.text("gpu", price.gpu, "Its GPU");
    io.text("region", price.region, "Region");
    io.text("zone", price.zone, "Zone");
    io.real("gpus", price.gpus, "GPUs of the instance");
    io.real("usd_per_hour", price.usdPerHour, "Of the instance, null: none");
    io.real("spot_usd_per_hour", price.spotUsdPerHour, "Of the instance, null: none");
    io.index("source", price.source, "Index into sources");
}

/// Behind "format" and "version". Ranks last: a file that ends in the middle still has all that they refer to.
template <class Io> void describe(Io &io, Maybe<Recording> auto &recording)
{
    io.text("name", recording.name, "Of the run");
    io.whole("zero_unix_ns", recording.zero, "Unix time of moment 0, 0: unknown");
    io.whole("aligned_at_ns", recording.alignedAt, "Moment that clock drifts are about");
    io.list("sources", recording.sources, "Files that it was read from");
    io.texts("names", recording.names, "Names of spans and operations");
    io.list("groups", recording.groups, "Groups of ranks that communicate");
    io.map("arguments", recording.arguments,
        "What the run was started with, by the framework's names; of several sources the first that tells one");
    io.list("arguments_of", recording.argumentsOf, "What each source tells; absent: the arguments are of one source");
    io.list("models", recording.models, "Models as their sources tell them");
    io.list("nodes", recording.nodes, "Machines, those that are alike together");
    io.list("switches", recording.switches, "Switches of the network");
    io.list("prices", recording.prices, "Prices of instances");
    io.list("benchmarks", recording.benchmarks, "Measured links, collectives and drives");
    io.list("kernels", recording.kernels, "Kernels that a probe timed alone");
    io.list("series", recording.series, "Quantities over steps or time");
    io.list("ranks", recording.ranks, "What was recorded of each rank");
}

} // namespace trainyard::recording_file
