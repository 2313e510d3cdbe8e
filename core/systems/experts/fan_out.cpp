// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/experts/fan_out.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace trainyard {

namespace {

/// Of `draws` without return from `all` experts, that none is among `there`: C(all - there, draws) / C(all, draws).
double missesAll(double all, double there, int draws)
{
    double chance = 1;
    for (int i = 0; i < draws && chance > 0; ++i)
        chance *= std::max(0.0, 1 - there / std::max(all - i, there));
    return chance;
}

struct GroupedRouting {
    double experts = 1, ofGroup = 1; // all; of one group
    int groups = 1, topGroups = 1, choices = 1;
};

/// That none of the choices is in a place of one group, which holds `there` experts of its own group and no other.
/// Experts are drawn by falling score; until as many groups as are wanted have appeared every draw is a choice, and
/// then those of these groups are. State: groups other than the place's that have appeared, and experts drawn from the
/// place's group beside it.
double missesPartOfAGroup(const GroupedRouting &routing, double there)
{
    const int groups = routing.topGroups, choices = routing.choices;
    const auto width = std::size_t(choices) + 1;
    std::vector<double> now((std::size_t(groups) + 1) * width), next;
    now[0] = 1;
    double missed = 0;
    for (int drawn = 0; drawn < choices; ++drawn) {
        next.assign(now.size(), 0);
        for (int others = 0; others <= groups; ++others) {
            for (int beside = 0; beside <= drawn; ++beside) {
                const double chance = now[std::size_t(others) * width + std::size_t(beside)];
                if (chance <= 0)
                    continue;
                if (others + (beside > 0 ? 1 : 0) == groups) { // the rest comes from the groups that are there
                    missed += beside > 0 ? chance * missesAll(groups * routing.ofGroup - drawn, there, choices - drawn)
                                         : chance;
                    continue;
                }
                const double left = routing.experts - drawn;
                const auto go = [&](int toOthers, int toBeside, double experts) {
                    next[std::size_t(toOthers) * width + std::size_t(toBeside)] +=
                        chance * std::max(0.0, experts) / left;
                };
                go(others, beside, others * routing.ofGroup - (drawn - beside));
                go(others + 1, beside, (routing.groups - 1 - others) * routing.ofGroup);
                go(others, beside + 1, routing.ofGroup - there - beside);
            }
        }
        now.swap(next);
    }
    for (const double chance : now)
        missed += chance;
    return missed;
}

/// The same of a place of `held` whole groups.
double missesWholeGroups(const GroupedRouting &routing, double held)
{
    const int groups = routing.topGroups;
    std::vector<double> now(std::size_t(groups) + 1), next;
    now[0] = 1;
    double missed = 0;
    for (int drawn = 0; drawn < routing.choices; ++drawn) {
        next.assign(now.size(), 0);
        for (int others = 0; others <= groups; ++others) {
            const double chance = now[std::size_t(others)];
            if (others == groups) { // and none of them is the place's
                missed += chance;
                continue;
            }
            const double left = routing.experts - drawn;
            next[std::size_t(others)] += chance * std::max(0.0, others * routing.ofGroup - drawn) / left;
            next[std::size_t(others) + 1] +=
                chance * std::max(0.0, routing.groups - held - others) * routing.ofGroup / left;
        }
        now.swap(next);
    }
    for (const double chance : now)
        missed += chance;
    return missed;
}

double chanceOf(double share, const ExpertTokens &tokens, int choices)
{
    const double experts = tokens.experts, there = experts * share;
    const int groups = tokens.groups;
    const bool isLimited = tokens.topGroups > 0 && tokens.topGroups < groups;
    if (!isLimited)
        return 1 - missesAll(experts, there, choices);
    const GroupedRouting routing { experts, experts / groups, groups, tokens.topGroups,
        std::min(choices, int(experts / groups) * tokens.topGroups) };
    return 1 - (share * groups > 1 ? missesWholeGroups(routing, share * groups) : missesPartOfAGroup(routing, there));
}

} // namespace

double visitChance(double share, const ExpertTokens &tokens)
{
    const int choices = std::min(tokens.choices, tokens.experts);
    const double kept = std::clamp(tokens.kept, 0.0, 1.0);
    share = std::min(share, 1.0);
    if (kept >= 1)
        return share >= 1 ? 1 : chanceOf(share, tokens, choices);
    // Each visit is dropped on its own: what is left of k choices is binomial.
    double chance = 0, term = std::pow(1 - kept, choices);
    if (kept <= 0)
        return 0;
    for (int left = 0; left <= choices; ++left) {
        chance += left == 0 ? 0 : term * (share >= 1 ? 1 : chanceOf(share, tokens, left));
        term *= double(choices - left) / (left + 1) * kept / (1 - kept);
    }
    return chance;
}

double placesVisited(double places, const ExpertTokens &tokens)
{
    return places * visitChance(1 / places, tokens);
}

double otherPlacesVisited(double places, const ExpertTokens &tokens)
{
    return placesVisited(places, tokens) * (places - 1) / places;
}

} // namespace trainyard
