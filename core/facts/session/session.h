#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A session: what a design meeting leaves. Variants of a plan, of which one may be the baseline, notes, and a log of
// decisions. Values; a session is saved as *.trainyard-session (session_io.h).

#include "core/facts/plan/plan.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

struct Variant {
    /// unique in its session, and never given to another variant: "v3"
    std::string id;
    std::string name;
    /// "#1f77b4"; empty: by its place on the board
    std::string color;
    std::string note;
    /// never null
    PlanPtr plan;
    /// keys that this version does not know, as a JSON object; empty: none
    std::string kept;
    /// Plans are compared, not pointers to them.
    bool operator==(const Variant &other) const;
};

/// Whether two plans say the same, wherever their files lie: relative paths are compared by where they lead.
[[nodiscard]] bool areSamePlan(const PlanPtr &a, const PlanPtr &b);

struct Decision {
    /// ISO 8601 in UTC: "2026-11-30T09:41:00Z"
    std::string at;
    /// "B, because the link to Oregon is the limit"
    std::string text;
    /// id of the variant that it is about; empty: of none
    std::string variant;
    std::string kept;
    bool operator==(const Decision &) const = default;
};

struct Session {
    /// in the order of the board
    std::vector<Variant> variants;
    /// id of the variant that others are compared with; empty: none
    std::string baseline;
    /// oldest first
    std::vector<Decision> decisions;
    /// What the window showed, a JSON object that only the window reads; empty: nothing is known.
    std::string view;
    std::string kept;
    bool operator==(const Session &) const = default;

    /// Null where there is none.
    [[nodiscard]] const Variant *variant(std::string_view id) const;
};

/// The session with a variant more, behind the one with the id `after` (last where there is none). Its id is new, and
/// its name is told from the others: "Two regions 2".
/// `beside`: another session whose ids are not given either.
[[nodiscard]] Session withVariant(Session session, PlanPtr plan, const std::string &name, std::string_view after = {},
    const Session *beside = nullptr);

/// The session without the variant. A baseline that goes leaves none; decisions stay, and keep its id, which no other
/// gets.
[[nodiscard]] Session withoutVariant(Session session, std::string_view id);

} // namespace trainyard
