// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/map_svg.h"

#include "core/base/number_text.h"
#include "core/base/ranges_text.h"
#include "core/base/words.h"
#include "core/evaluation/report/markup.h"
#include "core/facts/cluster/pool_gpu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <vector>

namespace trainyard {

namespace {

using namespace markup;

// In units of the picture; letters are 11 high.
constexpr double kSiteGap = 44, kWidestSite = 300, kMapLine = 15, kSitePad = 10, kArc = 26, kArcStep = 30,
                 kLetterWidth = 6.2;

/// As much of a text as fits, with an ellipsis where that is not all of it.
std::string fitted(const std::string &text, double width)
{
    const auto room = std::size_t(std::max(1.0, width / kLetterWidth));
    std::size_t letters = 0, at = 0, end = 0;
    for (; at < text.size(); ++at) {
        if ((static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) // within a letter
            continue;
        if (++letters == room)
            end = at;
    }
    return letters <= room ? text : text.substr(0, end) + "\u2026";
}

std::string stagesOf(const Layout &layout, int datacenter)
{
    std::set<std::int64_t> stages;
    for (const PipelineClass &one : layout.classes)
        for (std::size_t s = 0; s < one.locations.size(); ++s)
            if (one.locations[s].datacenter == datacenter)
                stages.insert(std::int64_t(s) + 1);
    if (stages.empty())
        return {};
    return (stages.size() == 1 ? "stage " : "stages ")
        + rangesText(std::vector<std::int64_t>(stages.begin(), stages.end()), 3);
}

std::vector<std::string> linesOf(const Evaluation &evaluation, std::size_t site)
{
    const Datacenter &datacenter = evaluation.plan->cluster.datacenters[site];
    std::vector<std::string> lines;
    for (const Pool &pool : datacenter.pools)
        lines.push_back(wholeText(pool.gpus()) + " \u00d7 " + gpuNameOf(pool));
    if (std::string stages = stagesOf(evaluation.layout, int(site)); !stages.empty())
        lines.push_back(std::move(stages));
    int idle = 0;
    for (const IdleGpus &one : evaluation.layout.idle)
        idle += one.datacenter == int(site) ? one.gpus : 0;
    if (idle > 0)
        lines.push_back(counted(idle, "GPU") + " idle");
    return lines;
}

struct Arc {
    std::size_t from, to;
    bool isUsed;
    double gbps;
    std::string label;
    [[nodiscard]] double height() const { return kArc + kArcStep * double(to - from - 1); }
};

std::vector<Arc> arcsOf(const Evaluation &evaluation)
{
    const Cluster &cluster = evaluation.plan->cluster;
    std::vector<Arc> arcs;
    for (std::size_t l = 0; l < cluster.wanLinks.size(); ++l) {
        const WanLink &link = cluster.wanLinks[l];
        const int a = cluster.indexOf(link.between[0]), b = cluster.indexOf(link.between[1]);
        if (a < 0 || b < 0 || a == b)
            continue;
        const auto use = std::ranges::find(evaluation.metrics.wanLinks, int(l), &WanLinkUse::link);
        const bool isKnown = use != evaluation.metrics.wanLinks.end(), isUsed = isKnown && use->totalBytes() > 0;
        std::string label = secondsText(link.rttMs * 1e-3) + " \u00b7 " + gbpsText(link.capacityGbps);
        if (isKnown)
            label += isUsed ? " \u00b7 " + percentText(use->usableUtilization) : " \u00b7 not used";
        arcs.push_back(
            { std::size_t(std::min(a, b)), std::size_t(std::max(a, b)), isUsed, link.capacityGbps, std::move(label) });
    }
    return arcs;
}

} // namespace

std::string mapSvg(const Evaluation &evaluation)
{
    const std::size_t sites = evaluation.plan->cluster.datacenters.size();
    if (sites == 0 || sites > kMostOnMap)
        return {};
    const double width = std::min(kWidestSite, (kSvgWidth - kSiteGap * double(sites - 1)) / double(sites));
    const double first = (kSvgWidth - width * double(sites) - kSiteGap * double(sites - 1)) / 2;
    const auto left = [&](std::size_t site) { return first + double(site) * (width + kSiteGap); };
    const std::vector<Arc> arcs = arcsOf(evaluation);
    double top = 2;
    for (const Arc &arc : arcs)
        top = std::max(top, arc.height() + kMapLine);
    std::vector<std::vector<std::string>> lines;
    std::size_t most = 0;
    for (std::size_t site = 0; site < sites; ++site) {
        lines.push_back(linesOf(evaluation, site));
        most = std::max(most, lines.back().size());
    }
    const double height = kMapLine * double(most + 1) + 2 * kSitePad;
    std::string svg;
    for (const Arc &arc : arcs) {
        const double from = left(arc.from) + width / 2, to = left(arc.to) + width / 2, middle = (from + to) / 2;
        svg += "<path d=\"M" + coordinate(from) + " " + coordinate(top) + " Q" + coordinate(middle) + " "
            + coordinate(top - 2 * arc.height()) + " " + coordinate(to) + " " + coordinate(top) + "\" class=\""
            + (arc.isUsed ? "link" : "link unused") + "\" stroke-width=\""
            + coordinate(arc.isUsed ? std::clamp(1 + 2 * std::log10(std::max(1.0, arc.gbps)), 1.0, 7.0) : 1) + "\"/>";
        svg += text(middle, top - arc.height() - 4, "middle faint", arc.label);
    }
    for (std::size_t site = 0; site < sites; ++site) {
        const std::string &name = evaluation.plan->cluster.datacenters[site].label();
        svg += rect(left(site), top, width, height, "site", name);
        double y = top + kSitePad + kMapLine - 4;
        svg += text(left(site) + kSitePad, y, "group", fitted(name, width - 2 * kSitePad));
        for (const std::string &line : lines[site])
            svg += text(left(site) + kSitePad, y += kMapLine, "faint", fitted(line, width - 2 * kSitePad));
    }
    return "<svg viewBox=\"0 0 " + coordinate(kSvgWidth) + " " + coordinate(top + height + 2)
        + "\" role=\"img\" aria-label=\"Datacenters and links\">" + svg + "</svg>";
}

} // namespace trainyard
