// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sweep/copy_key.h"

#include "core/plan/enum_names.h"
#include "core/plan/keys/plan_keys.h"

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

template <class Owner> class Copier : public keys::PlainValues {
public:
    Copier(Owner &to, const Owner &from, std::string_view path)
        : m_to(to)
        , m_from(from)
        , m_path(path)
    {
    }
    bool isDone = false;

    template <class T, class S> void value(T S::*member, const Key &key)
    {
        const std::string_view name = key.name;
        if (!m_path.starts_with(name) || isDone)
            return;
        std::string_view rest = m_path.substr(name.size());
        if (!rest.empty() && rest.front() != '.' && rest.front() != '[')
            return; // a longer name
        T &to = m_to.*member;
        const T &from = m_from.*member;
        if constexpr (IsPlain<T>::value) {
            if (rest.empty()) {
                to = from;
                isDone = true;
            }
        } else if constexpr (kIsList<T>) {
            if constexpr (kIsSection<typename T::value_type>) {
                const auto index = takeIndex(rest);
                if (index && *index < to.size() && *index < from.size())
                    enter(to[*index], from[*index], rest);
            }
        } else if constexpr (kIsOptional<T>) {
            if constexpr (kIsSection<typename T::value_type>)
                if (to && from)
                    enter(*to, *from, rest);
        } else if constexpr (kIsSection<T>) {
            enter(to, from, rest);
        }
    }
    template <class T, class S> void automatic(std::optional<T> S::*member, const Key &key) { value(member, key); }

private:
    template <class T> void enter(T &to, const T &from, std::string_view rest)
    {
        if (rest.size() < 2 || rest.front() != '.')
            return;
        Copier<T> inner(to, from, rest.substr(1));
        describe(inner, keys::Of<T> {});
        isDone = inner.isDone;
    }

    Owner &m_to;
    const Owner &m_from;
    std::string_view m_path;
};

} // namespace

bool copyKey(Plan &to, const Plan &from, std::string_view dottedKey)
{
    Copier<Plan> copier(to, from, dottedKey);
    describe(copier, keys::Of<Plan> {});
    return copier.isDone;
}

} // namespace trainyard
