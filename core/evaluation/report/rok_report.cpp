// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/rok_report.h"

#include "core/base/number_text.h"
#include "core/base/text_table.h"
#include "core/evaluation/report/json_internal.h"

namespace trainyard {

namespace {

Json pointJson(const RokPoint &point)
{
    return { { "way", toString(point.way) }, { "micro_batch", point.microBatch }, { "current", point.isCurrent },
        { "activations_bytes", finite(point.activationPeak) }, { "kept_bytes", finite(point.kept) },
        { "model_tflops_per_gpu", finite(point.tflopsPerGpu) }, { "iteration_time_s", finite(point.iterationTime) },
        { "stall_s", finite(point.stall) }, { "device_bytes", point.device }, { "capacity_bytes", point.capacity },
        { "fits", point.fits } };
}

/// What sets a point apart, behind its line.
std::string pointRemark(const RokPoint &point)
{
    std::string text = point.isCurrent ? "the plan" : "";
    if (!point.fits)
        text += text.empty() ? "does not fit" : ", does not fit";
    return text;
}

} // namespace

std::string rokTable(const RokCurve &curve)
{
    using enum TextTable::Align;
    TextTable table({ Left, Right, Right, Right, Right, Right, Right, Left },
        { "activations", "micro-batch", "at their peak", "TFLOP/s per GPU", "iteration", "waits", "on device", "" });
    for (const RokPoint &point : curve.points)
        table.add({ toString(point.way), std::to_string(point.microBatch), bytesText(point.activationPeak),
            plainText(point.tflopsPerGpu), secondsText(point.iterationTime), secondsText(point.stall),
            bytesText(double(point.device)), pointRemark(point) });
    std::string text = table.text();
    for (const RokGap &gap : curve.gaps)
        text +=
            std::string(toString(gap.way)) + ", micro-batch " + std::to_string(gap.microBatch) + ": " + gap.why + "\n";
    return text;
}

std::string rokJson(const RokCurve &curve)
{
    Json points = Json::array(), gaps = Json::array();
    for (const RokPoint &point : curve.points)
        points.push_back(pointJson(point));
    for (const RokGap &gap : curve.gaps)
        gaps.push_back({ { "way", toString(gap.way) }, { "micro_batch", gap.microBatch }, { "why", gap.why } });
    return dumped({ { "points", points }, { "left_out", gaps }, { "stopped", curve.isStopped } });
}

std::string rokCsv(const RokCurve &curve)
{
    std::string text;
    const Json columns = pointJson({});
    for (const auto &[key, value] : columns.items())
        text += (text.empty() ? "" : ",") + key;
    text += "\n";
    for (const RokPoint &point : curve.points) {
        const Json values = pointJson(point);
        std::string line;
        for (const Json &value : values)
            line += (line.empty() ? "" : ",")
                + (value.is_string()      ? value.get<std::string>()
                        : value.is_null() ? ""
                                          : value.dump());
        text += line + "\n";
    }
    return text;
}

} // namespace trainyard
