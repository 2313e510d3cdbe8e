// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/slow_links.h"

#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/runs/overlay/span_index.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

namespace trainyard {

namespace {

constexpr std::size_t kLeastLinkMatches = 5;
constexpr double kSlowLink = 1.1; // of the usual time

using Stages = std::pair<int, int>;
using Like = std::tuple<std::string, double, int, Stages>; // operation, bytes, ranks, stages of a transfer

struct Measured { // collectives of one kind in one group
    std::uint32_t group = kNoIndex;
    std::vector<double> seconds;
    double median = 0, error = 0;
    double moreSeconds = 0; // a step, beyond those like it
};

/// The pipeline and its two stages; nothing where the map does not know the ranks.
struct Boundary {
    int replica = 0;
    Stages stages;
};
std::optional<Boundary> boundaryOf(const CommunicatorGroup &group, const RankMap &map)
{
    if (group.ranks.size() != 2
        || std::ranges::any_of(group.ranks, [&](int rank) { return rank < 0 || rank >= map.worldSize(); }))
        return std::nullopt;
    const RankPlace a = map.placeOf(group.ranks[0]), b = map.placeOf(group.ranks[1]);
    return Boundary { a.replica, { std::min(a.stage, b.stage), std::max(a.stage, b.stage) } };
}

std::string bandwidthText(double bytesPerSecond)
{
    return bytesText(bytesPerSecond) + "/s";
}

std::string linkName(const CommunicatorGroup &group, const std::optional<Boundary> &boundary)
{
    const auto number = [](int of) { return std::to_string(of); };
    if (group.ranks.size() == 2 && boundary)
        return "ranks " + number(group.ranks[0]) + " and " + number(group.ranks[1]) + " (stages "
            + number(boundary->stages.first + 1) + " and " + number(boundary->stages.second + 1) + ", pipeline "
            + number(boundary->replica + 1) + ")";
    if (group.ranks.size() == 2)
        return "ranks " + number(group.ranks[0]) + " and " + number(group.ranks[1])
            + (group.name.empty() ? "" : " (group " + group.name + ")");
    return "group " + group.name + " (" + number(static_cast<int>(group.ranks.size())) + " ranks)";
}

} // namespace

std::vector<SlowLink> slowLinks(const Run &run, const RankMap &map, double least)
{
    const Recording &recording = *run.recording;
    std::map<Like, std::map<std::uint32_t, Measured>> byKind;
    for (const MatchedCollective &one : run.collectives) {
        if (one.bytes <= 0 || one.leastDuration <= 0 || one.group >= recording.groups.size()
            || static_cast<int>(one.parts.size()) < one.groupRanks)
            continue;
        const std::string &operation = recording.names[one.operation];
        Stages stages { -1, -1 };
        if (isTransferName(operation))
            if (const auto boundary = boundaryOf(recording.groups[one.group], map))
                stages = boundary->stages;
        Measured &own = byKind[{ operation, one.bytes, one.groupRanks, stages }][one.group];
        own.group = one.group;
        own.seconds.push_back(static_cast<double>(one.leastDuration) * 1e-9);
    }
    const auto hasSpans = [](const RunStep &step) { return step.hasSpans(); };
    const double steps = std::max<double>(1, double(std::ranges::count_if(run.steps, hasSpans)));
    struct Found {
        SlowLink link;
        double moreSeconds = 0;
        std::string where; // pairs of one boundary are told once
        int beside = 0;
    };
    std::vector<Found> found;
    for (auto &[kind, groups] : byKind) {
        std::erase_if(groups, [](const auto &entry) { return entry.second.seconds.size() < kLeastLinkMatches; });
        for (auto &[index, own] : groups) {
            own.median = medianOf(own.seconds);
            own.error = kMedianError * medianDistance(own.seconds, own.median) / std::sqrt(double(own.seconds.size()));
        }
        for (auto &[index, own] : groups) {
            std::vector<double> others, errors;
            for (const auto &[other, like] : groups)
                if (other != index) {
                    others.push_back(like.median);
                    errors.push_back(like.error);
                }
            if (others.empty())
                continue;
            const double usual = medianOf(std::move(others)), error = medianOf(std::move(errors));
            own.moreSeconds = (own.median - usual) * double(own.seconds.size()) / steps;
            if (own.median < kSlowLink * usual || own.moreSeconds < least
                || own.median - usual < kSureErrors * std::hypot(own.error, error))
                continue;
            const auto &[operation, bytes, ranks, stages] = kind;
            const CommunicatorGroup &group = recording.groups[index];
            const auto boundary = isTransferName(operation) ? boundaryOf(group, map) : std::nullopt;
            const std::string where = boundary ? std::to_string(boundary->replica) + "/"
                    + std::to_string(boundary->stages.first) + "/" + std::to_string(boundary->stages.second)
                                               : std::to_string(index);
            const double wire = bytes * busFactor(operation, ranks);
            Found made { { linkName(group, boundary), wire / own.median, wire / usual, {} }, own.moreSeconds, where,
                0 };
            const auto known = std::ranges::find(found, where, &Found::where);
            if (known == found.end()) {
                found.push_back(std::move(made));
                continue;
            }
            const int beside = known->beside + (made.link.between == known->link.between ? 0 : 1);
            if (made.moreSeconds > known->moreSeconds)
                *known = std::move(made);
            known->beside = beside;
        }
    }
    std::ranges::stable_sort(found, [](const Found &a, const Found &b) { return a.moreSeconds > b.moreSeconds; });
    std::vector<SlowLink> links;
    for (Found &one : found) {
        SlowLink &link = links.emplace_back(std::move(one.link));
        std::string name = link.between;
        name.front() = name.front() == 'r' ? 'R' : 'G';
        link.sentence = name + (one.beside > 0 ? " and other pairs between the same stages" : "")
            + (name.front() == 'R' ? " carry " : " carries ") + bandwidthText(link.busBytesPerSecond)
            + " where others of their kind carry " + bandwidthText(link.expected) + ", " + secondsText(one.moreSeconds)
            + " more per step";
    }
    return links;
}

} // namespace trainyard
