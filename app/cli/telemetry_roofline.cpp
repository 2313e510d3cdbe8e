// SPDX-License-Identifier: GPL-3.0-or-later
// `telemetry roofline`: the operators of a run by the sizes of their tensors, beside the roof of the GPU and the plan's
// own model of kernels.
#include "app/cli/command.h"
#include "app/cli/profile_text.h"
#include "app/cli/run_sources.h"
#include "app/cli/signals.h"

#include "core/base/text_table.h"
#include "core/runs/profile/roofline.h"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace trainyard::cli {

namespace {

struct TelemetryRooflineOptions {
    std::vector<std::string> sources;
    std::string format, gpu;
    int top = 25;
};

std::size_t rowsShown(const Roofline &roofline, int top)
{
    return top <= 0 ? roofline.rows.size() : std::min(roofline.rows.size(), static_cast<std::size_t>(top));
}

/// Three digits.
std::string rateText(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", value >= 100 ? 0 : value >= 10 ? 1 : 2, value);
    return text;
}

std::string rooflineTable(const Roofline &roofline, int top)
{
    using enum TextTable::Align;
    TextTable rows({ Right, Right, Right, Right, Right, Right, Right, Right, Right, Left, Left, Left },
        { "time", "share", "calls", "a call", "predicted", "×", "TFLOP/s", "GB/s", "of the roof", "operator", "",
            "shape" });
    for (std::size_t i = 0; i < rowsShown(roofline, top); ++i) {
        const RooflineRow &row = roofline.rows[i];
        rows.add({ nanosecondsText(row.total), percentText(roofline.total > 0 ? row.total / roofline.total : 0),
            wholeText(double(row.calls)), secondsText(row.seconds()),
            row.predictedSeconds ? secondsText(*row.predictedSeconds) : "–", row.ratio() ? rateText(*row.ratio()) : "–",
            rateText(row.flopsPerSecond() * 1e-12), rateText(row.bytesPerSecond() * 1e-9),
            row.shareOfRoof() ? percentText(*row.shareOfRoof()) : "–", kernelText(row.operation),
            formatName(row.work.precision), kernelText(row.shape) });
    }
    std::string text = rows.text();
    if (const std::size_t shown = rowsShown(roofline, top); shown < roofline.rows.size())
        text += "… and " + wholeText(double(roofline.rows.size() - shown)) + " more (--top 0 shows all)\n";
    return text;
}

Json rowJson(const RooflineRow &row)
{
    const auto orNull = [](const std::optional<double> &value) { return value ? Json(*value) : Json(nullptr); };
    return { { "operator", row.operation }, { "shape", row.shape }, { "kind", nameOf(row.work.kind) },
        { "backward", row.work.isBackward }, { "precision", formatName(row.work.precision) }, { "kernel", row.kernel },
        { "calls", row.calls }, { "kernels", row.kernels }, { "total_ns", row.total }, { "flops", row.work.flops },
        { "bytes", row.work.bytes }, { "flops_per_byte", row.intensity() }, { "flops_per_s", row.flopsPerSecond() },
        { "bytes_per_s", row.bytesPerSecond() }, { "roof_s", orNull(row.roofSeconds) },
        { "share_of_roof", orNull(row.shareOfRoof()) }, { "predicted_s", orNull(row.predictedSeconds) },
        { "measured_to_predicted", orNull(row.ratio()) } };
}

Json rooflineJson(const Roofline &roofline, int top)
{
    Json json { { "gpu_told", roofline.gpuName.empty() ? Json(nullptr) : Json(roofline.gpuName) },
        { "gpu", roofline.gpu ? Json(roofline.gpu->id) : Json(nullptr) },
        { "memory_bytes_per_s", roofline.gpu ? Json(roofline.gpu->memoryGBps * 1e9) : Json(nullptr) },
        { "peaks", Json::array() }, { "ranks", roofline.ranks }, { "total_ns", roofline.total },
        { "counted_ns", roofline.counted }, { "without_formula_ns", roofline.withoutFormula },
        { "operators", Json::array() }, { "others", Json::array() } };
    for (const auto &[precision, peak] : roofline.peaks())
        json["peaks"].push_back({ { "precision", formatName(precision) }, { "flops_per_s", peak } });
    for (std::size_t i = 0; i < rowsShown(roofline, top); ++i)
        json["operators"].push_back(rowJson(roofline.rows[i]));
    for (const Roofline::Other &other : roofline.others)
        json["others"].push_back({ { "operator", other.operation }, { "total_ns", other.total } });
    return json;
}

std::string shareOfTime(const Roofline &roofline, double time)
{
    return percentText(roofline.total > 0 ? time / roofline.total : 0);
}

std::vector<std::string> rooflineNotes(const Roofline &roofline)
{
    std::vector<std::string> notes;
    if (roofline.gpu)
        notes.push_back("Roof: " + roofline.gpu->name + ", " + rateText(roofline.gpu->memoryGBps) + " GB/s");
    for (const auto &[precision, peak] : roofline.peaks())
        notes.back() += ", " + formatName(precision) + " " + rateText(peak * 1e-12) + " TFLOP/s";
    if (!roofline.gpu)
        notes.push_back((roofline.gpuName.empty() ? std::string("The traces do not tell their GPU")
                                                  : "The catalogue has no " + roofline.gpuName)
            + ": --gpu names the one whose roof and model are taken");
    else if (!roofline.isGpuSure)
        notes.push_back("Several GPUs are called " + roofline.gpuName + ": --gpu names the right one");
    if (roofline.otherRanks > 0)
        notes.push_back(wholeText(double(roofline.otherRanks)) + " ranks with another GPU are left out");
    notes.push_back("Of the kernels' time but for collectives " + shareOfTime(roofline, roofline.counted)
        + " is in the table, " + shareOfTime(roofline, roofline.withoutFormula) + " of operators without a formula"
        + (roofline.others.empty() ? "" : " (" + roofline.others.front().operation + " most)")
        + ", the rest of none that tells sizes");
    return notes;
}

/// Why there is no table, and what would be right.
Error lackOf(const Roofline &roofline, const std::string &source)
{
    const char *record = "traces that PyTorch's profiler recorded with record_shapes=True";
    switch (roofline.lack) {
    case RooflineLack::Kernels:
        return { ErrorCode::BadValue, source, "there is no kernel of a GPU in it", record };
    case RooflineLack::Host:
        return { ErrorCode::BadValue, source, "it has no operators of the host",
            "traces themselves instead of a recording that was made without its host; " + std::string(record) };
    case RooflineLack::Sizes:
        return { ErrorCode::BadValue, source, "its operators do not tell the sizes of their tensors", record };
    case RooflineLack::Formulas:
    case RooflineLack::None:
        break;
    }
    return { ErrorCode::BadValue, source, "no formula is known of the operators that launched its kernels",
        "matrix products, attention or operators by element of PyTorch" };
}

int runTelemetryRoofline(const TelemetryRooflineOptions &options)
{
    const Catalogue &catalogue = builtinCatalogue();
    const GpuSpec *gpu = options.gpu.empty() ? nullptr : catalogue.gpu(options.gpu);
    if (!options.gpu.empty() && !gpu)
        return fail({ { ErrorCode::BadValue, "--gpu", "the catalogue has no " + options.gpu,
            "one of `trainyard-cli catalog gpus`" } });
    Interruption interruption;
    const auto recording = readRanks(options.sources, interruption.token(), true);
    if (!recording)
        return recording.error().front().code == ErrorCode::Cancelled ? stoppedBefore("all files were read")
                                                                      : fail(recording.error());
    const Roofline roofline = rooflineOf(*recording, catalogue, gpu);
    if (roofline.lack != RooflineLack::None)
        return fail({ lackOf(roofline, options.sources.front()) });
    std::vector<std::string> notes = notesOfSources(*recording);
    std::ranges::copy(rooflineNotes(roofline), std::back_inserter(notes));
    Json json = rooflineJson(roofline, options.top);
    json["notes"] = notes;
    return print(options.format == "json" ? jsonText(json) : rooflineTable(roofline, options.top) + notesText(notes),
        options.format);
}

} // namespace

void addTelemetryRoofline(const Subcommand &telemetry, int &exitCode)
{
    const auto options = std::make_shared<TelemetryRooflineOptions>();
    const Subcommand roofline(telemetry, "roofline",
        "The operators of a run by the sizes of their tensors: FLOP/s and bytes per second beside the roof of the GPU, "
        "and their time beside what the plan's model says of such a shape");
    roofline.texts("SOURCE", options->sources, "Traces of the ranks with record_shapes, or folders of them").required();
    roofline.text("--gpu", options->gpu, "GPU of the catalogue; as the traces tell without it").shownAs("ID");
    roofline.number("--top", options->top, "So many rows; 0: all").between(0, 1'000'000).showingDefault();
    addFormatOption(roofline, options->format, { "table", "json" });
    roofline.callback([options, &exitCode] { exitCode = runTelemetryRoofline(*options); });
}

} // namespace trainyard::cli
