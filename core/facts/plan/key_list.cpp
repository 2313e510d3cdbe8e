// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/key_list.h"

#include "core/base/words.h"
#include "core/facts/plan/enum_names.h"
#include "core/facts/plan/keys/plan_keys.h"

#include <algorithm>
#include <stdexcept>

namespace trainyard {

namespace {

template <class Owner> class Lister {
public:
    /// `at`: in the standard plan; nullptr: in a list.
    Lister(std::vector<KeyRow> &rows, std::string path, std::vector<bool (*)(const Plan &)> conditions, const Owner *at)
        : m_rows(rows)
        , m_path(std::move(path))
        , m_conditions(std::move(conditions))
        , m_at(at)
    {
    }

    template <class T> void value(T Owner::*member, const Key &key)
    {
        add<T>(key, m_default.*member, m_at ? &(m_at->*member) : nullptr);
    }
    template <class T> void automatic(std::optional<T> Owner::*member, const Key &key)
    {
        KeyRow &row = add<std::optional<T>>(key, {}, m_at ? &(m_at->*member) : nullptr);
        row.standard = "auto";
        row.isAutomatic = true;
        row.mayBeMissing = false;
    }
    template <class T> void perStage(std::vector<T> Owner::*member, const Key &key)
    {
        KeyRow &row = add<T>(key, {}, nullptr);
        row.standard = key.otherwise;
        locate(row, m_at ? &(m_at->*member) : nullptr);
    }
    template <class T> void byGpu(std::map<std::string, T> Owner::*, const Key &key)
    {
        row(key, KeyKind::Section);
        inside<T>(key, "", nullptr);
    }
    template <class T> void byMicroBatch(T Owner::*, const Key &key) { row(key, KeyKind::Other); }
    void gpu(const Key &key) { row(key, KeyKind::Other); }
    void model(const Key &key) { row(key, KeyKind::Other); }
    void between(const Key &key) { row(key, KeyKind::Other); }
    void directions(const Key &key) { row(key, KeyKind::Number).standard = key.otherwise; }
    void calibration(const Key &key) { row(key, KeyKind::Other); }
    void stack(const Key &key)
    {
        row(key, KeyKind::Other).standard = Stack().name;
        inside<Stack>(key, "", m_at ? &m_at->stack : nullptr);
    }

private:
    KeyRow &row(const Key &key, KeyKind kind)
    {
        KeyRow &row = m_rows.emplace_back(m_path + key.name, key, kind);
        row.conditions = m_conditions;
        if (key.applies)
            row.conditions.push_back(key.applies);
        return row;
    }

    template <class T> void inside(const Key &key, const char *index, const T *at)
    {
        Lister<T> lister(m_rows, m_path + key.name + index + ".", m_rows.back().conditions, at);
        describe(lister, keys::Of<T> {});
    }

    template <class T> static void locate(KeyRow &row, const T *at)
    {
        if (!at)
            return;
        row.offset = reinterpret_cast<const char *>(at) - reinterpret_cast<const char *>(&standardPlan());
        if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
            row.read = [](const void *member) { return KeyValue(double(*static_cast<const T *>(member))); };
            row.write = [](void *member, KeyValue value) { *static_cast<T *>(member) = static_cast<T>(value.value()); };
        } else if constexpr (kIsOptional<T>) {
            using Inner = typename T::value_type;
            if constexpr (std::is_arithmetic_v<Inner> || std::is_enum_v<Inner>) {
                row.read = [](const void *member) {
                    const T &now = *static_cast<const T *>(member);
                    return now ? KeyValue(double(*now)) : KeyValue();
                };
                row.write = [](void *member, KeyValue value) {
                    *static_cast<T *>(member) = value ? T(static_cast<Inner>(*value)) : T();
                };
            }
        }
    }

    template <class T> KeyRow &add(const Key &key, const T &standard, const T *at)
    {
        if constexpr (kIsOptional<T>) {
            const std::size_t place = m_rows.size();
            add<typename T::value_type>(key, {}, nullptr);
            locate(m_rows[place], at);
            m_rows[place].standard = key.otherwise;
            m_rows[place].mayBeMissing = true;
            return m_rows[place];
        } else if constexpr (kIsList<T>) {
            const std::size_t place = m_rows.size();
            row(key, KeyKind::List);
            if constexpr (kIsSection<typename T::value_type>)
                inside<typename T::value_type>(key, "[]", nullptr);
            locate(m_rows[place], at);
            return m_rows[place];
        } else if constexpr (kIsSection<T>) {
            const std::size_t place = m_rows.size();
            row(key, KeyKind::Section);
            inside<T>(key, "", at);
            return m_rows[place];
        } else if constexpr (std::is_enum_v<T>) {
            KeyRow &made = row(key, KeyKind::Choice);
            made.choices = namesInFile(kNamesOf<T>);
            made.names = kNamesOf<T>;
            made.standard = toString(standard);
            locate(made, at);
            return made;
        } else if constexpr (std::is_same_v<T, std::string>) {
            KeyRow &made = row(key, KeyKind::Text);
            made.standard = *key.otherwise ? key.otherwise : standard;
            locate(made, at);
            return made;
        } else {
            constexpr bool isFlag = std::is_same_v<T, bool>;
            KeyRow &made = row(key, isFlag ? KeyKind::Flag : std::is_integral_v<T> ? KeyKind::Whole : KeyKind::Number);
            made.standard = isFlag ? (standard ? "true" : "false") : plainNumber(double(standard));
            locate(made, at);
            return made;
        }
    }

    std::vector<KeyRow> &m_rows;
    std::string m_path;
    std::vector<bool (*)(const Plan &)> m_conditions;
    const Owner *m_at;
    Owner m_default {};
};

template <class Owner> struct TrainingDiffer : keys::PlainValues {
    const Owner &before, &after;
    const Plan &plan;
    bool differs = false;

    TrainingDiffer(const Owner &from, const Owner &to, const Plan &whole)
        : before(from)
        , after(to)
        , plan(whole)
    {
    }

    template <class T> void value(T Owner::*member, const Key &key)
    {
        const T &a = before.*member, &b = after.*member;
        if (a == b)
            return;
        if constexpr (kIsSection<T>) {
            TrainingDiffer<T> inner(a, b, plan);
            describe(inner, keys::Of<T> {});
            differs = differs || inner.differs;
        } else if (!key.applies || key.applies(plan)) {
            if (key.training == Training::DiffersUnlessDefault)
                differs = differs || !(b == Owner {}.*member);
            else if constexpr (std::is_same_v<T, std::optional<int>>)
                differs = differs
                    || (key.training == Training::DiffersWhereFewer
                        && b.value_or(key.unlessTold) < a.value_or(key.unlessTold));
            else
                differs = differs || key.training == Training::Differs;
        }
    }
    template <class T> void automatic(std::optional<T> Owner::*, const Key &) { }
};

std::vector<KeyRow> listKeys()
{
    std::vector<KeyRow> rows;
    Lister<Plan> lister(rows, "", {}, &standardPlan());
    describe(lister, keys::Of<Plan> {});
    return rows;
}

} // namespace

bool KeyRow::applies(const Plan &plan) const
{
    return std::ranges::all_of(conditions, [&](auto holds) { return holds(plan); });
}

std::string KeyRow::fileText(KeyValue value) const
{
    if (!value)
        return key.choice.none;
    if (kind == KeyKind::Flag)
        return *value != 0 ? "true" : "false";
    return names.empty() ? plainNumber(*value) : names[std::size_t(*value)].name;
}

std::string KeyRow::shownText(KeyValue value) const
{
    if (!value)
        return key.choice.noneShown;
    if (kind == KeyKind::Flag)
        return *value != 0 ? "on" : "off";
    if (!names.empty())
        return names[std::size_t(*value)].label;
    const std::string_view unit = key.choice.unit;
    return plainNumber(*value) + std::string(unit.substr(0, unit.size() - (*value == 1 && unit.ends_with('s'))));
}

std::vector<KeyValue> KeyRow::values(std::span<const double> worth) const
{
    std::vector<KeyValue> all;
    if (isAutomatic || mayBeMissing)
        all.emplace_back();
    all.insert(all.end(), worth.begin(), worth.end());
    if (kind == KeyKind::Flag || kind == KeyKind::Choice)
        for (std::size_t i = 0; i < (names.empty() ? 2 : names.size()); ++i)
            all.emplace_back(double(i));
    return all;
}

std::vector<KeyValue> KeyRow::values(const Plan &plan, std::span<const double> worth) const
{
    std::vector<KeyValue> all = values(worth);
    const KeyValue own = value(plan);
    const bool falls = worth.size() > 1 && worth.front() > worth.back();
    if (std::ranges::find(all, own) == all.end())
        all.insert(
            std::ranges::find_if(all, [&](KeyValue one) { return one && (falls ? one < own : one > own); }), own);
    return all;
}

const std::vector<KeyRow> &planKeys()
{
    static const std::vector<KeyRow> rows = listKeys();
    return rows;
}

const KeyRow &planKey(std::string_view path)
{
    const auto found = std::ranges::find(planKeys(), path, &KeyRow::path);
    if (found == planKeys().end())
        throw std::logic_error("no key of a plan: " + std::string(path));
    return *found;
}

const Plan &standardPlan()
{
    static const Plan plan;
    return plan;
}

const KeyRow &keyAt(std::ptrdiff_t offset)
{
    const auto &rows = planKeys();
    const auto found =
        std::find_if(rows.rbegin(), rows.rend(), [&](const KeyRow &row) { return row.offset == offset; });
    if (found == rows.rend())
        throw std::logic_error("no row of the plan's keys is about this member");
    return *found;
}

std::string sentenceOf(const Key &key)
{
    std::string text = key.doc;
    if (*key.otherwise)
        text += std::string("; default: ") + key.otherwise;
    if (key.training != Training::Same)
        text += key.training == Training::DiffersWhereFewer ? ". Fewer affects convergence" : ". Affects convergence";
    return text;
}

bool changesTraining(const Plan &from, const Plan &to)
{
    TrainingDiffer<Plan> differ(from, to, to);
    describe(differ, keys::Of<Plan> {});
    return differ.differs;
}

} // namespace trainyard
