#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the map says about one WAN link: round trip, capacity, how much of it is used, and which limit its transfers
// meet first. Pure.

#include "views/cluster/map_scene.h"

namespace trainyard {

/// `use` may be null. Where it is of a plan before this one, it only tells whether the link is used: no figure of it
/// shows.
[[nodiscard]] LinkScene buildLink(const Plan &plan, const WanLink &link, const WanLinkUse *use, bool isCurrent);
/// The evaluation's entry for this link, found by the datacenters' ids; null where there is none. `likely`: its index,
/// most often.
[[nodiscard]] const WanLinkUse *useOf(const Evaluation &evaluation, const WanLink &link, std::size_t likely);
/// What keeps transfers from being faster ("node pair", "TCP window", "link capacity"), what it lets through, and how
/// much of that is used.
struct BindingLimit {
    QString name;
    double gbps = 0;
    double use = 0;
};
[[nodiscard]] BindingLimit bindingLimit(const WanLink &link, const WanLinkUse &use);

} // namespace trainyard
