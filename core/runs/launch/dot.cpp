// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/number_text.h"
#include "core/base/printable.h"
#include "core/evaluation/evaluate/track_names.h"
#include "core/runs/launch/launch.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

/// A quoted string of dot.
std::string dotText(std::string_view text)
{
    std::string made = "\"";
    for (const char c : printable(text, LineBreaks::Kept)) {
        if (c == '"' || c == '\\')
            made += '\\';
        if (c == '\n')
            made += "\\n";
        else
            made += c;
    }
    return made + "\"";
}

std::string labelOf(const Evaluation &evaluation, std::uint32_t span)
{
    const Timeline &timeline = evaluation.timeline;
    std::string label = toString(timeline.kind[span]);
    if (timeline.microBatch[span] >= 0)
        label += " " + std::to_string(timeline.microBatch[span]);
    if (timeline.chunk[span] > 0)
        label += ", chunk " + std::to_string(timeline.chunk[span]);
    return label + "\n" + secondsText(double(timeline.end[span] - timeline.start[span]) * 1e-9);
}

} // namespace

std::string dotOf(const Evaluation &evaluation, std::size_t most)
{
    const Timeline &timeline = evaluation.timeline;
    // The first to start, whatever their track, so that causes of what is drawn are drawn.
    std::vector<std::uint32_t> chosen(timeline.spanCount());
    for (std::uint32_t i = 0; i < chosen.size(); ++i)
        chosen[i] = i;
    const bool isCut = chosen.size() > most;
    if (isCut) {
        const auto end = chosen.begin() + static_cast<std::ptrdiff_t>(most);
        const auto isBefore = [&](std::uint32_t a, std::uint32_t b) {
            return std::pair(timeline.start[a], a) < std::pair(timeline.start[b], b);
        };
        std::ranges::nth_element(chosen, end, isBefore);
        chosen.resize(most);
        std::ranges::sort(chosen);
    }
    std::vector<bool> isDrawn(timeline.spanCount(), false);
    for (const std::uint32_t span : chosen)
        isDrawn[span] = true;

    std::string text = "digraph trainyard {\n    label=" + dotText(evaluation.plan->name) + ";\n";
    if (isCut)
        text += "    // the first " + wholeText(double(most)) + " of " + wholeText(double(timeline.spanCount()))
            + " spans\n";
    text += "    rankdir=LR;\n    node [shape=box, fontsize=10];\n";
    std::map<std::pair<int, int>, std::vector<std::uint32_t>> clusters; // by class of pipelines and stage
    for (const std::uint32_t span : chosen) {
        const Track &track = timeline.tracks[timeline.trackOf[span]];
        clusters[{ track.pipelineClass, track.stage }].push_back(span);
    }
    for (const auto &[place, spans] : clusters) {
        const Track &first = timeline.tracks[timeline.trackOf[spans.front()]];
        const std::string name = evaluation.metrics.jobs ? "GPU " + std::to_string(place.second + 1)
                                                         : pipelinesName(evaluation, first) + ", stage "
                + std::to_string(place.second + 1) + ", " + datacenterName(evaluation, first);
        text += "    subgraph " + dotText("cluster_" + std::to_string(place.first) + "_" + std::to_string(place.second))
            + " {\n        label=" + dotText(name) + ";\n";
        for (const std::uint32_t span : spans)
            text += "        s" + std::to_string(span) + " [label=" + dotText(labelOf(evaluation, span))
                + ", group=" + dotText(trackName(evaluation, timeline.tracks[timeline.trackOf[span]])) + "];\n";
        text += "    }\n";
    }
    for (const std::uint32_t span : chosen)
        if (const std::uint32_t cause = span < timeline.cause.size() ? timeline.cause[span] : kNoSpan;
            cause != kNoSpan && cause < isDrawn.size() && isDrawn[cause])
            text += "    s" + std::to_string(cause) + " -> s" + std::to_string(span) + ";\n";
    return text + "}\n";
}

} // namespace trainyard
