// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/session/session.h"

#include "core/facts/plan/named_files.h"

#include <algorithm>
#include <charconv>

namespace trainyard {

namespace {

/// 3 of "v3"; 0 where the id is another's.
int numberOf(std::string_view id)
{
    int number = 0;
    if (!id.starts_with('v'))
        return 0;
    const auto [end, error] = std::from_chars(id.data() + 1, id.data() + id.size(), number);
    return error == std::errc() && end == id.data() + id.size() ? number : 0;
}

/// Above those that decisions speak of as well: their variants may be gone.
std::string newId(const Session &session, const Session *beside)
{
    int highest = 0;
    for (const Session *one : { &session, beside }) {
        if (!one)
            continue;
        for (const Variant &variant : one->variants)
            highest = std::max(highest, numberOf(variant.id));
        for (const Decision &decision : one->decisions)
            highest = std::max(highest, numberOf(decision.variant));
    }
    return "v" + std::to_string(highest + 1);
}

std::string toldApart(const Session &session, const std::string &name)
{
    const auto isTaken = [&](const std::string &wanted) {
        return std::ranges::find(session.variants, wanted, &Variant::name) != session.variants.end();
    };
    std::string apart = name;
    for (int number = 2; isTaken(apart); ++number)
        apart = name + " " + std::to_string(number);
    return apart;
}

} // namespace

bool Variant::operator==(const Variant &other) const
{
    return id == other.id && name == other.name && color == other.color && note == other.note && kept == other.kept
        && areSamePlan(plan, other.plan);
}

bool areSamePlan(const PlanPtr &a, const PlanPtr &b)
{
    if (a == b)
        return true;
    if (!a || !b)
        return false;
    return *a == *b || (a->baseDir != b->baseDir && rebased(*a, b->baseDir) == *b);
}

const Variant *Session::variant(std::string_view id) const
{
    const auto found = std::ranges::find(variants, id, &Variant::id);
    return found == variants.end() ? nullptr : &*found;
}

Session withVariant(
    Session session, PlanPtr plan, const std::string &name, std::string_view after, const Session *beside)
{
    Variant variant;
    variant.id = newId(session, beside);
    variant.name = toldApart(session, name);
    variant.plan = std::move(plan);
    const auto found = std::ranges::find(session.variants, after, &Variant::id);
    session.variants.insert(found == session.variants.end() ? found : found + 1, std::move(variant));
    return session;
}

Session withoutVariant(Session session, std::string_view id)
{
    std::erase_if(session.variants, [&](const Variant &variant) { return variant.id == id; });
    if (session.baseline == id)
        session.baseline.clear();
    return session;
}

} // namespace trainyard
