// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/sweep/copy_key.h"

#include "core/facts/plan/enum_names.h"
#include "core/facts/plan/keys/plan_keys.h"

#include <charconv>

namespace trainyard {

namespace {

template <class T> struct IsPlain : std::bool_constant<std::is_arithmetic_v<T> || std::is_enum_v<T>> {
};
template <class T> struct IsPlain<std::optional<T>> : IsPlain<T> {
};

/// "[3].nodes" as 3, and the path behind it.
std::optional<std::size_t> takeIndex(std::string_view &path)
{
    std::size_t index = 0;
    const std::size_t end = path.find(']');
    if (path.empty() || path.front() != '[' || end == std::string_view::npos)
        return std::nullopt;
    if (const auto [stop, error] = std::from_chars(path.data() + 1, path.data() + end, index);
        error != std::errc() || stop != path.data() + end)
        return std::nullopt;
    path.remove_prefix(end + 1);
    return index;
}

/// Goes to the value of a path and does something with it. `Owner` is const where it is only read.
template <class Owner, class Do> class Finder : public keys::PlainValues {
public:
    Finder(Owner &owner, std::string_view path, Do &act)
        : m_owner(owner)
        , m_path(path)
        , m_do(act)
    {
    }
    bool isFound = false;

    template <class T, class S> void value(T S::*member, const Key &key)
    {
        const std::string_view name = key.name;
        if (!m_path.starts_with(name) || isFound)
            return;
        std::string_view rest = m_path.substr(name.size());
        if (!rest.empty() && rest.front() != '.' && rest.front() != '[')
            return; // a longer name
        auto &there = m_owner.*member;
        if constexpr (IsPlain<T>::value) {
            if (rest.empty())
                isFound = m_do(there);
        } else if constexpr (kIsList<T>) {
            if constexpr (kIsSection<typename T::value_type>) {
                const auto index = takeIndex(rest);
                if (index && *index < there.size())
                    enter(there[*index], rest);
            }
        } else if constexpr (kIsOptional<T>) {
            if constexpr (kIsSection<typename T::value_type>)
                if (there)
                    enter(*there, rest);
        } else if constexpr (kIsSection<T>) {
            enter(there, rest);
        }
    }
    template <class T, class S> void automatic(std::optional<T> S::*member, const Key &key) { value(member, key); }

private:
    template <class T> void enter(T &owner, std::string_view rest)
    {
        if (rest.size() < 2 || rest.front() != '.')
            return;
        Finder<T, Do> inner(owner, rest.substr(1), m_do);
        describe(inner, keys::Of<std::remove_const_t<T>> {});
        isFound = inner.isFound;
    }

    Owner &m_owner;
    std::string_view m_path;
    Do &m_do;
};

template <class Owner, class Do> bool find(Owner &plan, std::string_view path, Do act)
{
    Finder<Owner, Do> finder(plan, path, act);
    describe(finder, keys::Of<Plan> {});
    return finder.isFound;
}

} // namespace

std::any plainValue(const Plan &plan, std::string_view dottedKey)
{
    std::any value;
    find(plan, dottedKey, [&](const auto &there) {
        value = there;
        return true;
    });
    return value;
}

bool setPlainValue(Plan &plan, std::string_view dottedKey, const std::any &value)
{
    return find(plan, dottedKey, [&]<class T>(T &there) {
        const T *given = std::any_cast<T>(&value);
        if (given)
            there = *given;
        return given != nullptr;
    });
}

} // namespace trainyard
