// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/session/session_merge.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

std::string quoted(const Variant &variant)
{
    return "“" + variant.name + "”";
}

bool hasSamePlan(const Variant &a, const Variant &b)
{
    return areSamePlan(a.plan, b.plan);
}

/// theirs, as a variant of its own behind mine; its id
std::string keepBoth(Session &into, const Variant &theirs, const Session &all)
{
    into = withVariant(std::move(into), theirs.plan, theirs.name + " (theirs)", theirs.id, &all);
    const auto added = std::ranges::find(into.variants, theirs.id, &Variant::id) + 1;
    added->color = theirs.color;
    added->note = theirs.note;
    added->kept = theirs.kept;
    return added->id;
}

/// of the id in both, which the base has
Variant merged(const Variant &base, const Variant &mine, const Variant &theirs, bool &isConflict)
{
    Variant result = mine;
    const auto take = [&](auto member, const auto &isSame) {
        const bool hasMine = !isSame(mine, base), hasTheirs = !isSame(theirs, base);
        if (hasTheirs && !hasMine)
            result.*member = theirs.*member;
        else if (hasTheirs && !isSame(mine, theirs))
            isConflict = true;
    };
    const auto same = [](auto member) {
        return [member](const Variant &a, const Variant &b) { return a.*member == b.*member; };
    };
    take(&Variant::plan, hasSamePlan);
    for (const auto member : { &Variant::name, &Variant::color, &Variant::note, &Variant::kept })
        take(member, same(member));
    return result;
}

/// The board as they have ordered it, where here it is as it was: what they do not know stays behind what it stood
/// behind.
void orderAs(const Session &base, Session &mine, const Session &theirs)
{
    const auto common = [&](const Session &of) {
        std::vector<std::string> ids;
        for (const Variant &one : of.variants)
            if (base.variant(one.id) && mine.variant(one.id) && theirs.variant(one.id))
                ids.push_back(one.id);
        return ids;
    };
    const std::vector<std::string> wanted = common(theirs);
    if (common(mine) != common(base) || common(mine) == wanted)
        return;
    std::vector<Variant> ordered;
    std::size_t next = 0;
    for (const Variant &one : mine.variants) {
        const bool isCommon = std::ranges::find(wanted, one.id) != wanted.end();
        ordered.push_back(isCommon ? *mine.variant(wanted[next++]) : one);
    }
    mine.variants = std::move(ordered);
}

void mergeDecisions(
    const Session &base, Session &mine, const Session &theirs, const std::map<std::string, std::string> &renamed)
{
    std::vector<Decision> before = base.decisions;
    for (Decision decision : theirs.decisions) {
        if (const auto known = std::ranges::find(before, decision); known != before.end()) {
            before.erase(known); // each of equal ones counts once
            continue;
        }
        if (std::ranges::find(mine.decisions, decision) != mine.decisions.end())
            continue; // it came in before
        if (const auto other = renamed.find(decision.variant); other != renamed.end())
            decision.variant = other->second;
        mine.decisions.push_back(std::move(decision));
    }
    // What they took back and I left as it was goes.
    for (const Decision &gone : before)
        if (const auto found = std::ranges::find(mine.decisions, gone); found != mine.decisions.end())
            mine.decisions.erase(found);
    std::ranges::stable_sort(mine.decisions, {}, &Decision::at);
}

} // namespace

std::vector<std::string> changesOf(const Session &base, const Session &theirs)
{
    std::vector<std::string> told;
    for (const Variant &now : theirs.variants) {
        const Variant *before = base.variant(now.id);
        if (!before) {
            told.push_back("added " + quoted(now));
            continue;
        }
        if (before->name != now.name)
            told.push_back("renamed " + quoted(*before) + " to " + quoted(now));
        if (!hasSamePlan(*before, now))
            told.push_back("changed the plan of " + quoted(now));
        if (before->note != now.note)
            told.push_back("changed the note of " + quoted(now));
        if (before->color != now.color)
            told.push_back("changed the color of " + quoted(now));
    }
    for (const Variant &before : base.variants)
        if (!theirs.variant(before.id))
            told.push_back("removed " + quoted(before));
    const auto orderOf = [](const Session &of, const Session &other) {
        std::vector<std::string> ids;
        for (const Variant &one : of.variants)
            if (other.variant(one.id))
                ids.push_back(one.id);
        return ids;
    };
    if (orderOf(base, theirs) != orderOf(theirs, base))
        told.push_back("reordered the board");
    if (base.baseline != theirs.baseline) {
        const Variant *baseline = theirs.variant(theirs.baseline);
        told.push_back(
            baseline ? "made " + quoted(*baseline) + " the baseline" : std::string("took the baseline away"));
    }
    std::vector<Decision> before = base.decisions;
    for (const Decision &decision : theirs.decisions) {
        if (const auto known = std::ranges::find(before, decision); known != before.end())
            before.erase(known);
        else
            told.push_back("decided: " + decision.text);
    }
    for (const Decision &gone : before)
        told.push_back("took back: " + gone.text);
    return told;
}

SessionMerge mergeSessions(const Session &base, Session mine, const Session &theirs)
{
    SessionMerge result;
    result.theirs = changesOf(base, theirs);
    std::map<std::string, std::string> renamed;
    std::string behind;
    for (const Variant &their : theirs.variants) {
        const auto own = std::ranges::find(mine.variants, their.id, &Variant::id);
        const Variant *before = base.variant(their.id);
        if (own == mine.variants.end()) {
            // Added there, or removed here: what they have changed since is not lost.
            if (!before || *before != their) {
                const auto place = std::ranges::find(mine.variants, behind, &Variant::id);
                mine.variants.insert(place == mine.variants.end() ? place : place + 1, their);
                if (before)
                    result.keptTwice.push_back(their.name);
                behind = their.id;
            }
            continue;
        }
        behind = their.id;
        bool isConflict = false;
        if (before)
            *own = merged(*before, *own, their, isConflict);
        else
            isConflict = *own != their; // both added one under this id
        if (isConflict) {
            renamed[their.id] = keepBoth(mine, their, theirs);
            result.keptTwice.push_back(mine.variant(renamed[their.id])->name);
        }
    }
    const auto isGone = [&](const Variant &own) {
        const Variant *before = base.variant(own.id);
        return before && !theirs.variant(own.id) && own == *before; // removed there, as it was here
    };
    if (!std::ranges::all_of(mine.variants, isGone)) // each removed what the other kept: a session has a variant
        std::erase_if(mine.variants, isGone);
    if (mine.baseline == base.baseline) {
        const auto other = renamed.find(theirs.baseline);
        mine.baseline = other == renamed.end() ? theirs.baseline : other->second;
    }
    orderAs(base, mine, theirs);
    if (mine.view == base.view)
        mine.view = theirs.view;
    if (mine.kept == base.kept)
        mine.kept = theirs.kept;
    if (!mine.variant(mine.baseline))
        mine.baseline.clear();
    mergeDecisions(base, mine, theirs, renamed);
    result.session = std::move(mine);
    return result;
}

} // namespace trainyard
