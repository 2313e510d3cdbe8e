// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/bars_svg.h"

#include "core/base/number_text.h"
#include "core/evaluation/report/markup.h"
#include "core/evaluation/report/metric_rows.h"

#include <algorithm>
#include <array>
#include <map>

namespace trainyard {

namespace {

using namespace markup;

std::string legendEntry(std::string_view styleClass, std::string_view label, std::string_view value = {})
{
    return "<span><svg viewBox=\"0 0 11 11\">" + rect(0, 0, 11, 11, styleClass) + "</svg>" + escaped(label)
        + (value.empty() ? "" : " <b>" + escaped(value) + "</b>") + "</span>";
}

std::string breakdownClass(const std::string &key)
{
    static const std::map<std::string, std::string> classes { { "breakdown_s.compute", "b-compute" },
        { "breakdown_s.tensor_parallel", "b-tensor" }, { "breakdown_s.context_parallel", "b-context" },
        { "breakdown_s.expert_parallel", "b-expert" }, { "breakdown_s.pipeline", "b-pipeline" },
        { "breakdown_s.wan", "b-wan" }, { "breakdown_s.data_parallel", "b-data" },
        { "breakdown_s.offload_stall", "b-offload" }, { "breakdown_detail_s.optimizer", "b-optimizer" },
        { "breakdown_detail_s.overhead", "b-overhead" }, { "breakdown_s.bubble", "b-bubble" } };
    const auto it = classes.find(key);
    return it == classes.end() ? "b-bubble" : it->second;
}

struct BarPart {
    const char *styleClass;
    const char *label;
    std::int64_t bytes;
};

std::array<BarPart, 6> parts(const StageMemory &s)
{
    return { { { "m-weights", "weights", s.weights }, { "m-gradients", "gradients", s.gradients },
        { "m-optimizer", "optimizer", s.optimizer }, { "m-activations", "activations", s.activations },
        { "m-buffers", "buffers", s.buffers },
        { "m-reserve", "allocator, context and communication", s.device - s.peak } } };
}

} // namespace

std::string breakdownBar(const Evaluation &evaluation)
{
    const std::vector<MetricRow> rows = breakdownRows(evaluation);
    double total = 0;
    for (const MetricRow &row : rows)
        total += *row.value;
    if (total <= 0)
        return {};
    std::string bar, legend;
    double x = 0;
    for (const MetricRow &row : rows) {
        if (*row.value <= 0)
            continue;
        const double width = kSvgWidth * *row.value / total;
        const std::string share = percentText(*row.value / total);
        bar += rect(x, 0, std::max(0.5, width - 1), 26, breakdownClass(row.key),
            row.label + " " + valueText(row) + ", " + share);
        legend += legendEntry(breakdownClass(row.key), row.label, valueText(row) + " \u00b7 " + share);
        x += width;
    }
    return "<svg viewBox=\"0 0 1160 26\" role=\"img\" aria-label=\"Time breakdown\">" + bar
        + "</svg><div class=\"legend\">" + legend + "</div>";
}

std::string memoryBars(const Evaluation &evaluation)
{
    if (!evaluation.metrics.memory || evaluation.metrics.memory->perStage.empty())
        return {};
    const std::vector<StageMemory> &stages = evaluation.metrics.memory->perStage;
    std::int64_t most = 1;
    for (const StageMemory &s : stages)
        most = std::max({ most, s.device, s.capacity });
    constexpr double kLabel = 70, kValue = 150, kBar = kSvgWidth - kLabel - kValue;
    const double height = stages.size() > 24 ? 9 : 16, pitch = height + 4;
    std::string svg;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const StageMemory &s = stages[i];
        const double y = double(i) * pitch;
        const auto width = [&](std::int64_t bytes) { return kBar * double(bytes) / double(most); };
        svg +=
            text(kLabel - 8, y + height - (height < 12 ? 0.5 : 4), "faint end", "stage " + std::to_string(s.stage + 1));
        svg += rect(kLabel, y, width(s.capacity), height, "m-free", "capacity " + bytesText(double(s.capacity)));
        double x = kLabel;
        for (const BarPart &part : parts(s)) {
            if (part.bytes <= 0)
                continue;
            svg += rect(x, y, width(part.bytes), height, part.styleClass,
                std::string(part.label) + " " + bytesText(double(part.bytes)));
            x += width(part.bytes);
        }
        const double limit = kLabel + width(s.capacity);
        svg += "<line x1=\"" + coordinate(limit) + "\" x2=\"" + coordinate(limit) + "\" y1=\"" + coordinate(y - 2)
            + "\" y2=\"" + coordinate(y + height + 2) + "\" class=\"limit\"/>";
        svg += text(kSvgWidth, y + height - (height < 12 ? 0.5 : 4), "faint end",
            bytesText(double(s.device)) + " of " + bytesText(double(s.capacity)));
    }
    std::string legend;
    for (const BarPart &part : parts(stages.front()))
        legend += legendEntry(part.styleClass, part.label);
    return "<svg viewBox=\"0 -3 1160 " + coordinate(double(stages.size()) * pitch + 4)
        + "\" role=\"img\" aria-label=\"Memory per stage\">" + svg + "</svg><div class=\"legend\">" + legend + "</div>";
}

} // namespace trainyard
